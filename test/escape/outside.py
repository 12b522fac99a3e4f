"""outside: the same promises, seen from the host: who the guest is there, and what stays when it has gone."""

import os
import shutil
import signal
import stat
import subprocess
from pathlib import Path

import carriers
import covetest
import fixtures

READY = b"ready\n"


def descendants(pid):
    """Host pids of all processes below one, the nearest first."""
    found, queue = [], [pid]
    while queue:
        parent = queue.pop(0)
        for path in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                children = [int(child) for child in path.read_text().split()]
            except OSError:
                continue
            found += children
            queue += children
    return found


def ids(pid):
    """The four user ids and four group ids of a process, as the host sees them."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return [int(x) for x in lines["Uid"].split()], [int(x) for x in lines["Gid"].split()]


def inside(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/user") != os.readlink("/proc/self/ns/user")
    except OSError:
        return False


class Live(covetest.TestCase):
    """A case that looks at a sandbox while it runs."""

    def __init__(self, name, user, function):
        super().__init__()
        self.attempt, self.user, self.function = name, user, function
        self.title = f"escape/{name} ({user})"

    def runTest(self):
        self.function(self)

    def live(self, *options, script="sleep 60", report=None):
        """A sandbox that has come as far as its command."""
        if report:
            options = (*options, "--report", report)
        child = self.popen(["run", "--user", self.user, *options, "--", "/bin/sh", "-c", f"echo ready; {script}"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = child.stdout.readline()
        if line != READY:
            self.fail(f"the sandbox did not start: {line!r} {child.stderr.read()!r}")
        return child

    def guests(self, child):
        guests = [pid for pid in descendants(child.pid) if inside(pid)]
        self.assertTrue(guests, "no process of the sandbox was found on the host")
        return guests


def host_uid(test):
    """Every process inside is unprivileged on the host: not root, and nobody who exists there."""
    people = {int(line.split(":")[2]) for line in Path("/etc/passwd").read_text().splitlines()}
    for pid in test.guests(test.live()):
        uids, gids = ids(pid)
        test.assertNotIn(0, uids + gids, f"process {pid} is root on the host")
        if os.geteuid() == 0:
            test.assertFalse(people & set(uids), f"process {pid} is somebody on the host")


def ranges(test):
    """Two sandboxes share no id, so neither can touch what is the other's."""
    first, second = ({uid for pid in test.guests(test.live()) for uid in ids(pid)[0]} for _ in range(2))
    test.assertFalse(first & second, f"both sandboxes use {first & second}")


def neighbours(test):
    """Files and processes of one sandbox are not in another."""
    token = os.urandom(8).hex()
    test.live(script=f"echo x > /tmp/{token}; exec sleep 60.{int(token[:6], 16)}")
    needle = f"60.{int(token[:6], 16)}"
    script = f"ls -R /tmp /workspace /dev/shm /run; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; test ! -e /tmp/{token}"
    result = covetest.run(["run", "--user", test.user, "--", "/bin/sh", "-c", script.replace(needle, "")])
    test.assertEqual(result.rc, 0, result)
    test.assertNotIn(needle.encode(), result.stdout)


def inodes(test):
    """No lock, watch or time on anything goes from one sandbox to another, or to the host; but for what the caller hands in, as here stdin."""
    go = test.tmp / "go"
    go.mkdir()
    for name in ("TELL", "LOOK", "HOLD"):
        (test.tmp / name).write_text(getattr(carriers, name).replace("/tmp/go", "/go/go"))

    def started(program):
        options = ["--user", test.user, "--file", f"/tmp/{program}={test.tmp / program}", "--bind", f"{go}:/go"]
        return test.popen(["run", *options, "--", "python3", f"/tmp/{program}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def told(program):
        return carriers.told(started(program).communicate(timeout=60)[0].decode())

    other = test.live()  # for as long as one lives, so do the kernel's numbers for its file systems
    first, host, before = told("TELL"), carriers.on_host(carriers.LOOK), told("LOOK")
    holder = started("HOLD")
    test.assertEqual(holder.stdout.readline(), b"held\n")
    differences = [carriers.differences(before, told("LOOK"), times=False), carriers.differences(host, carriers.on_host(carriers.LOOK))]
    (go / "go").touch()
    held = carriers.told(holder.communicate(timeout=60)[0].decode())
    other.kill()
    test.assertEqual(differences, [{}, {}])
    test.assertEqual(held["seen"], [])
    test.assertGreater(held["watched"], 10)
    first["devices"] = {device: path for device, path in first["devices"].items() if not path.startswith("/go")}
    test.assertEqual(carriers.shared(first, {"devices": carriers.devices_of_host(), "links": {}}), [])


def ended_by(number, reason):
    def function(test):
        """Whatever ends cove ends the sandbox, down to the last process, mount, cgroup and directory."""
        report = test.tmp / "report.json"
        before = covetest.HostState.take()
        child = test.live(script="setsid sleep 61 & trap '' TERM INT HUP; sleep 62; sleep 63", report=report)
        guests = test.guests(child)
        child.send_signal(number)
        child.wait(60)
        gone = covetest.wait_for(lambda: all(state(pid) == "Z" for pid in guests))
        test.assertTrue(gone, "processes of the sandbox outlived cove")
        if reason:
            test.assertIn(f'"{reason}"', report.read_text())
        covetest.stop(child)
        test.check_no_leak(before)
    return function


def state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def killed_while_starting(test):
    """SIGKILL of cove at any moment of the start leaves nothing."""
    before = covetest.HostState.take()
    for step in range(25):
        child = test.popen(["run", "--user", test.user, "--", "/bin/sleep", "64"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        covetest.pause(step * 0.0012)
        child.kill()
        covetest.stop(child)
    test.check_no_leak(before)


def init_killed(test):
    """PID 1 killed from outside is told as a failure, never as success."""
    report = test.tmp / "report.json"
    before = covetest.HostState.take()
    child = test.live(report=report)
    first = min(test.guests(child), key=start_time)
    os.kill(first, signal.SIGKILL)
    test.assertNotEqual(child.wait(60), 0, "cove says that all went well")
    covetest.stop(child)
    test.check_no_leak(before)


def start_time(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def kept_layer(test):
    """The kept layer may hold set-id files of the guest's ids, so nobody but its owner may enter it."""
    keep = test.tmp / "kept"
    script = "for f in /usr/local/bin/suid /tmp/suid; do cp /bin/true $f; chmod 6755 $f; done; true"
    result = covetest.run(["run", "--user", test.user, "--keep", keep, "--", "/bin/sh", "-c", script])
    test.assertEqual(result.rc, 0, result)
    test.assertTrue(keep.exists(), result)
    test.assertEqual(oct(stat.S_IMODE(keep.stat().st_mode)), oct(0o700))
    if os.geteuid() == 0:
        test.assertEqual(fixtures.dangerous_files(keep), [], "left by the guest")


# Links to the host, at places where cove itself makes files, directories and mounts.

def victim_of(test):
    """A directory of the host in which nothing must appear."""
    victim = test.tmp / "victim"
    victim.mkdir()
    (victim / "file").write_text("untouched\n")
    return victim


def check_untouched(test, victim, before):
    test.assertEqual(fixtures.fingerprint_tree(victim), before, "cove followed a link to the host")


def links_to(victim):
    """The ways a link can point out of a directory two levels below the victim's parent."""
    return {"absolute": str(victim), "relative": "../" * 40 + str(victim)[1:], "beside": "../victim",
            "proc": f"/proc/1/root{victim}", "cwd": f"/proc/self/cwd/../../../../../..{victim}"}


def bind_over_link(test):
    """The place of a bind is looked for inside, also when it lies in a bound directory with links."""
    victim = victim_of(test)
    before = fixtures.fingerprint_tree(victim)
    (test.tmp / "source").mkdir()
    lent = test.tmp / "lent"
    lent.mkdir(mode=0o777)
    for name, target in links_to(victim).items():
        (lent / name).symlink_to(target)
    for name in links_to(victim):
        for place in (f"/mnt/lent/{name}", f"/mnt/lent/{name}/new"):
            covetest.run(["run", "--user", test.user, "--bind", f"{lent}:/mnt/lent:rw",
                          "--bind", f"{test.tmp / 'source'}:{place}:rw",
                          "--", "/bin/sh", "-c", f"echo wrecked > {place}/file"])
    check_untouched(test, victim, before)


def file_over_link(test):
    """So is the place of --file."""
    victim = victim_of(test)
    before = fixtures.fingerprint_tree(victim)
    lent = test.tmp / "lent"
    lent.mkdir(mode=0o777)
    for name, target in links_to(victim).items():
        (lent / name).symlink_to(target)
        (lent / f"{name}-file").symlink_to(f"{target}/file")
    for name in links_to(victim):
        for place in (f"/mnt/lent/{name}-file", f"/mnt/lent/{name}/file", f"/mnt/lent/{name}/new"):
            covetest.run(["run", "--user", test.user, "--bind", f"{lent}:/mnt/lent:rw",
                          "--file", f"{place}=/etc/hostname", "--", "/bin/true"])
    check_untouched(test, victim, before)


def workdir_over_link(test):
    """And the working directory, which is made when it is missing."""
    victim = victim_of(test)
    before = fixtures.fingerprint_tree(victim)
    lent = test.tmp / "lent"
    lent.mkdir(mode=0o777)
    for name, target in links_to(victim).items():
        (lent / name).symlink_to(target)
        result = covetest.run(["run", "--user", test.user, "--bind", f"{lent}:/mnt/lent:rw",
                               "--workdir", f"/mnt/lent/{name}/new",
                               "--", "/bin/sh", "-c", "pwd; echo wrecked > wrecked"])
        test.assertFalse((victim / "new").exists(), result)
    check_untouched(test, victim, before)


def template_links(test):
    """A template is a directory that anybody may have written: its links lead nowhere either."""
    victim = victim_of(test)
    before = fixtures.fingerprint_tree(victim)
    for kind, target in links_to(victim).items():
        template = test.tmp / kind
        (template / "bin").mkdir(parents=True)
        shutil.copy(fixtures.probe_path(), template / "bin/program")
        for name in ("dev", "proc", "sys", "tmp", "etc", "home", "root", "run", "var", "usr", "workspace", "mnt"):
            (template / name).symlink_to(target)
        for name in ("dev", "proc", "workspace", "etc", "tmp", "mnt"):
            (template / name).unlink()
            (template / name).mkdir()
            covetest.run(["run", "--user", test.user, "--template", template, "--bind", f"{test.tmp}:/mnt/x",
                          "--file", "/etc/f=/etc/hostname", "--", "/bin/program", "--list"])
    check_untouched(test, victim, before)


def report_in_bind(test):
    """The guest puts a link where the report will be written."""
    victim = victim_of(test)
    before = fixtures.fingerprint_tree(victim)
    lent = test.tmp / "lent"
    lent.mkdir(mode=0o777)
    lent.chmod(0o777)
    script = f"rm -f /mnt/lent/report; ln -s {victim}/file /mnt/lent/report; ls -la /mnt/lent"
    result = covetest.run(["run", "--user", test.user, "--bind", f"{lent}:/mnt/lent:rw",
                           "--report", lent / "report", "--", "/bin/sh", "-c", script])
    test.assertIn(b"victim", result.stdout, "the link was not made")
    check_untouched(test, victim, before)


_guards = []


def guards_missing():
    """What cove itself says it cannot have here."""
    if not _guards:
        _guards.append(covetest.run(["run", "--", "/bin/true"], report=True).report["guards_missing"])
    return _guards[0]


def guards(test):
    """For host root every guard is on. A plain user is told which limits are not; the walls are there for both."""
    result = covetest.run(["run", "--user", test.user, "--", "/bin/true"], report=True)
    test.assertEqual(result.rc, 0, result)
    allowed = {"id-range", "idmap", "memory", "cpu", "pids", "io"} if os.geteuid() != 0 else set()
    test.assertEqual(set(result.report["guards_missing"]) - allowed, set(), result)


CASES = {
    "host-uid": host_uid,
    "host-ranges": ranges,
    "host-neighbours": neighbours,
    "host-inodes": inodes,
    "host-sigkill": ended_by(signal.SIGKILL, None),
    "host-sigterm": ended_by(signal.SIGTERM, "cancelled"),
    "host-sigint": ended_by(signal.SIGINT, "cancelled"),
    "host-sigkill-start": killed_while_starting,
    "host-init-killed": init_killed,
    "host-keep": kept_layer,
    "host-guards": guards,
    "host-bind-link": bind_over_link,
    "host-file-link": file_over_link,
    "host-workdir-link": workdir_over_link,
    "host-template-link": template_links,
    "host-report-link": report_in_bind,
}


def cases():
    for name, function in CASES.items():
        for user in ("user", "root"):
            yield Live(name, user, function)
