#!/usr/bin/python3
"""bareroot: a fresh minimal Debian 12 as a machine of its own, thrown away at the end.

    with bareroot.Root() as root:                     mmdebstrap's minbase with sudo, and nothing else
        root.check("apt-get update && …")             as root, by sh in /root; output as text, or a failure with all of it
        root.check("sudo id", user=root.add_user())   as a plain user who may use sudo without a password
        root.run("exit 3").returncode                 what became of it, whatever that is
        child = root.popen(["script/run"], cwd=…)     does not wait; root.end(child) sends SIGTERM to the command itself, given as words
        clone = root.clone("/root/private", 0o700)    this tree: HEAD, and what is not committed yet
        root.copy_in(host_path, inside)               files and directories; root.copy_out(inside, host_path)
        root.path / "etc/passwd"                      its files, seen from outside

It has mount, PID, UTS, IPC and cgroup namespaces of its own and is entered by pivot_root(2). The network is the host's, since apt needs it: a
server inside takes a port that is free outside. Its disk is a directory below /var/tmp. The way to the network (name servers, proxies,
certificates, the configuration of npm and pip) is copied from the host; nothing else is.

Whoever ends, its processes end with it: PID 1 dies with the process that made it, everything inside with PID 1, mounts with them. Directories
and cgroups are removed by close(), also after an exception or SIGTERM, and those of a process that was killed by the next Root.

The base is kept as a tar file below build/bareroot, named after what it was made of. By hand:

    test/lib/bareroot.py [--user] [COMMAND…]          in a clone of this tree, in a directory that only its owner can enter; a shell otherwise
"""

import atexit
import contextlib
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from hoststate import mount_lines  # noqa: E402

REPO = Path(__file__).resolve().parents[2]
CACHE = REPO / "build" / "bareroot"
RELEASE = "bookworm"
SUITES = (RELEASE, f"{RELEASE}-updates", f"{RELEASE}-security")
CACHE_SECONDS = 7 * 24 * 3600  # older ones lack updates that apt would install first
DISK = "/var/tmp"
USER, HOST = "dev", "bare"

NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/npmrc", "/etc/pip.conf", "/usr/local/share/ca-certificates")
NETWORK_VARIABLES = re.compile(r"^(https?_proxy|no_proxy|ftp_proxy|HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|PIP_CERT|PIP_DEFAULT_TIMEOUT)$")

# In namespaces of its own, with $1 as the future root. Where the host has a hierarchy of cgroups, the same one is mounted: it begins at our group.
ENTER = r"""
set -eu
cd "$1"
mount --bind . .
cd "$1"
mount --bind /dev dev
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=0755 tmpfs run
mkdir -m 1777 run/lock
while read -r type point options; do
    mkdir -p "./$point"
    mount -t "$type" -o "$options" "$type" "./$point"
done <<MOUNTS
@MOUNTS@
MOUNTS
hostname @HOST@
pivot_root . mnt
umount -l mnt
echo ready >&3
exec 3>&-
exec chroot . /bin/sh -c 'cd /; while :; do sleep 3600 & wait; done'
"""


class Failed(AssertionError):
    """A command inside did not do what it had to."""


# The base

def apt(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def sources():
    """The host's sources of Debian itself, as apt understands them; Debian's own where the host has none."""
    told = apt("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    rows = {tuple(line.split()) for line in told.splitlines()}
    found = sorted(f"deb {uri} {suite} main" for uri, suite, component in rows
                   if suite in SUITES and component == "main" and "debian" in uri)
    site = "http://deb.debian.org"
    return found or [f"deb {site}/debian {SUITES[0]} main", f"deb {site}/debian {SUITES[1]} main", f"deb {site}/debian-security {SUITES[2]} main"]


def proxies():
    return [line for line in apt("apt-config", "dump").splitlines() if re.match(r'Acquire::https?::(Proxy|.*::Proxy) "', line)]


def base(include=("sudo",)):
    """The tar file of a minimal system with these packages, made when there is none, or an old one."""
    made_of = "\n".join([*sources(), *proxies(), *sorted(include)])
    path = CACHE / f"{RELEASE}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.tar"
    if path.exists() and time.time() - path.stat().st_mtime < CACHE_SECONDS:
        return path
    CACHE.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.tar")
    try:
        # What it mounts meanwhile would be a leak to suites that run beside it.
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "mmdebstrap", "--variant=minbase", f"--include={','.join(include)}",
                               *(f"--aptopt={line}" for line in proxies()), RELEASE, str(partial), *sources()], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Failed(f"mmdebstrap failed with status {done.returncode}\n{done.stderr}")
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


# Groups

def hierarchies():
    """Each hierarchy of cgroups that the host has mounted: type, where, options of mount(8)."""
    for mount in mount_lines("/proc/self/mountinfo"):
        if mount["type"] in ("cgroup", "cgroup2"):
            options = [o for o in mount["options"].split(",") if o not in ("rw", "ro", "nsdelegate", "memory_recursiveprot") and "=" not in o]
            options += re.findall(r"name=[^,]+", mount["options"])
            yield mount["type"], mount["point"], ",".join(options) or "rw"


def parent_group(kind, point, options):
    """The group that ours goes below: our own in version 1, the top one in version 2, where a group that has processes can lend no controllers."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        own = Path(point) / path.lstrip("/")
        if kind == "cgroup" and set(names.split(",")) & set(options.split(",")) and own.exists():
            return own
    return Path(point)


class Groups:
    """A group in every hierarchy, below which everything inside stays. In version 2 processes are in a leaf of it, so that it can have others."""

    def __init__(self, name):
        self.tops, self.leaves = [], []
        for kind, point, options in hierarchies():
            parent = parent_group(kind, point, options)
            self.tops.append(parent / name)
            self.leaves.append(parent / name / "init" if kind == "cgroup2" else parent / name)
            if kind == "cgroup2":
                self.delegate(parent)
            self.leaves[-1].mkdir(parents=True)
            for file in ("cpuset.cpus", "cpuset.mems"):
                if kind == "cgroup" and (parent / file).exists():
                    (parent / name / file).write_text((parent / file).read_text())

    @staticmethod
    def delegate(point):
        for controller in (point / "cgroup.controllers").read_text().split():
            with contextlib.suppress(OSError):  # as far as the host lends them
                (point / "cgroup.subtree_control").write_text(f"+{controller}")

    @staticmethod
    def words(directories):
        """Commands of sh that move it there."""
        return "".join(f"echo 0 >{shlex.quote(str(d))}/cgroup.procs; " for d in directories)

    def remove(self):
        for top in self.tops:
            remove_group(top)


def remove_group(top):
    """What was in it has been killed, and goes soon."""
    end = time.monotonic() + 60
    while top.exists():
        for directory, _, _ in os.walk(top, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(directory)
        if time.monotonic() > end:
            raise Failed(f"the cgroup {top} still has processes: {(top / 'cgroup.procs').read_text().split()}")
        time.sleep(0.05)


def sweep():
    """What a process that was killed has left."""
    for hierarchy in hierarchies():
        for top in parent_group(*hierarchy).glob("bareroot-*"):
            if not Path(f"/proc/{top.name.split('-')[1]}").exists():
                remove_group(top)
    for directory in Path(DISK).glob("covetest-*-bare-*"):
        if not Path(f"/proc/{directory.name.split('-')[1]}").exists():
            shutil.rmtree(directory, ignore_errors=True)


# The machine

class Root:
    made = 0

    def __init__(self, include=("sudo",)):
        tar = base(include)
        sweep()
        Root.made += 1
        self.groups = self.init = None
        self.directory = Path(tempfile.mkdtemp(prefix=f"covetest-{os.getpid()}-bare-", dir=DISK))
        atexit.register(self.close)
        try:
            self.path = self.directory / "root"
            self.path.mkdir()
            subprocess.run(["tar", "-C", self.path, "--numeric-owner", "-xf", tar], check=True)
            self._connect()
            self.groups = Groups(f"bareroot-{os.getpid()}-{Root.made}")
            self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _connect(self):
        """The way to the network, as the host has it."""
        for name in NETWORK_FILES:
            inside = self.path / name.lstrip("/")
            if not Path(name).exists():
                continue
            copy(Path(name).resolve(), inside)
        with open(self.path / "etc/hosts", "a") as hosts:
            hosts.write(f"127.0.1.1 {HOST}\n")
        if proxies():
            (self.path / "etc/apt/apt.conf.d/90proxy").write_text("\n".join(proxies()) + "\n")

    def _start(self):
        mounts = "\n".join(f"{kind} {point} {options}" for kind, point, options in hierarchies())
        flat = "" if any(point == "/sys/fs/cgroup" for _, point, _ in hierarchies()) else "tmpfs /sys/fs/cgroup mode=0755\n"
        script = ENTER.replace("@MOUNTS@", flat + mounts).replace("@HOST@", HOST)
        inner = f"{self.groups.words(self.groups.leaves)}{script}"
        outer = (f"{self.groups.words(self.groups.tops)}exec setpriv --pdeathsig KILL unshare --mount --propagation private --pid --uts --ipc --cgroup "
                 f"--fork --kill-child sh -c {shlex.quote(inner)} sh {shlex.quote(str(self.path))}")
        read, write = os.pipe()
        log = self.directory / "log"
        with open(log, "wb") as output:
            self.init = subprocess.Popen(["sh", "-ec", f"exec 3>&{write}; {outer}"], pass_fds=(write,), stdin=subprocess.DEVNULL, stdout=output,
                                         stderr=output, start_new_session=True)
        os.close(write)
        with open(read) as ready:
            if ready.readline() != "ready\n":
                raise Failed(f"a bare root could not be entered\n{log.read_text()}")
        self.pid1 = child_of(self.init.pid)

    def close(self):
        """Safe to call twice, and halfway."""
        atexit.unregister(self.close)
        if self.init:
            for pid in (getattr(self, "pid1", None), self.init.pid):
                with contextlib.suppress(ProcessLookupError, TypeError):
                    os.kill(pid, signal.SIGKILL)
            self.init.wait()
            self.init = None
        if self.groups:
            self.groups.remove()
            self.groups = None
        if self.directory.exists():
            shutil.rmtree(self.directory)

    # Commands

    def environment(self, user, changes):
        home = "/root" if user == "root" else f"/home/{user}"
        found = {name: value for name, value in os.environ.items() if NETWORK_VARIABLES.match(name)}
        return {**found, "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "USER": user, "LOGNAME": user,
                "LANG": "C.UTF-8", "TERM": os.environ.get("TERM", "dumb"), **(changes or {})}

    def command(self, what, user="root", cwd=None, env=None):
        """The words that run it inside, for subprocess."""
        environment = self.environment(user, env)
        words = ["sh", "-c", what] if isinstance(what, str) else [str(word) for word in what]
        rights = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        inside = ["nsenter", f"--target={self.pid1}", "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--", *rights, "env", "-i",
                  "-C", str(cwd or environment["HOME"]), *(f"{name}={value}" for name, value in environment.items()), *words]
        return ["sh", "-ec", f"{self.groups.words(self.groups.leaves)}exec {shlex.join(inside)}"]

    def popen(self, what, user="root", cwd=None, env=None, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(self.command(what, user, cwd, env), **how)

    def run(self, what, user="root", cwd=None, env=None, timeout=1200, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.STDOUT)
        return subprocess.run(self.command(what, user, cwd, env), timeout=timeout, text=True, **how)

    def check(self, what, **how):
        done = self.run(what, **how)
        if done.returncode != 0:
            raise Failed(f"in the bare root, {what!r} ended with status {done.returncode}\n{done.stdout}")
        return done.stdout

    def end(self, child, number=signal.SIGTERM):
        """Sends a signal to the command itself, which is a child of what entered for it, and waits until that has ended."""
        while child.poll() is None:
            try:
                os.kill(child_of(child.pid), number)
                break
            except (OSError, IndexError):  # not entered yet, or gone this moment
                time.sleep(0.02)
        return child.wait()

    def processes(self):
        """Command lines inside, less PID 1 and its sleep. Those of a zombie are empty."""
        group = Path(f"/proc/{self.pid1}/ns/pid").readlink()
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (entry / "ns/pid").readlink() == group and int(entry.name) != self.pid1:
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        return {pid: words for pid, words in found.items() if words != "sleep 3600"}

    # Files and users

    def inside(self, path):
        return self.path / str(path).lstrip("/")

    def copy_in(self, source, inside):
        copy(Path(source), self.inside(inside))

    def copy_out(self, inside, target):
        copy(self.inside(inside), Path(target))

    def add_user(self, name=USER):
        """A plain user with a home directory of mode 0700, as Debian makes them, who may use sudo."""
        self.check(f"useradd --create-home --shell /bin/bash {name} && chmod 0700 /home/{name} && "
                   f"echo '{name} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/{name}")
        return name

    def clone(self, inside, mode=0o700, user="root"):
        """This tree in INSIDE/cove, in a directory of that mode. Returns its path inside."""
        parent = self.inside(inside)
        parent.mkdir(parents=True, exist_ok=True)
        clone(parent / "cove")
        parent.chmod(mode)
        self.check(["chown", "-R", f"{user}:{user}", inside])
        return f"{inside}/cove"


def child_of(pid):
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def copy(source, target):
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def clone(target):
    """HEAD by git, then what differs from it in the working tree: changed, new and removed files."""
    def git(*words):
        return subprocess.run(["git", *words], capture_output=True, check=True).stdout

    git("clone", "--quiet", "--no-hardlinks", str(REPO), str(target))
    listed = git("-C", str(REPO), "ls-files", "-z", "--modified", "--others", "--deleted", "--exclude-standard")
    staged = git("-C", str(REPO), "diff", "-z", "--name-only", "--cached", "HEAD")
    for name in {os.fsdecode(n) for n in (listed + staged).split(b"\0") if n}:
        (target / name).unlink(missing_ok=True)
        if (REPO / name).exists():
            copy(REPO / name, target / name)


def main(arguments):
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    as_user = arguments[:1] == ["--user"]
    words = arguments[1:] if as_user else arguments
    with Root() as root:
        user = root.add_user() if as_user else "root"
        home = f"/home/{user}" if as_user else "/root"
        place = root.clone(f"{home}/private", 0o700, user)
        return root.run(words or ["bash"], user=user, cwd=place, timeout=None, stdin=None, stdout=None, stderr=None).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
