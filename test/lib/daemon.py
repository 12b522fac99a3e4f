"""daemon: a cove daemon for a test, with a state directory of its own, and the proof that nothing of it stays.

    class Lifecycle(daemon.Case):
        def test_it_runs(self):
            box = self.box(limits={"memoryMB": 64})          # deleted with the test
            self.assertEqual(box.out("echo hi"), "hi\n")

    daemon.main()

All tests of a suite share one daemon (self.daemon, self.api); a test that kills or configures one starts its own by
self.start_daemon(). After the last test the shared ones are stopped, and looked after: processes, cgroups, files below
the state directory, descriptors, sanitizer reports.

COVE_COVED names another coved to test, started directly; COVE_TEST_SLOW multiplies the times allowed (sanitizers).
"""

import atexit
import contextlib
import hmac
import json
import os
import re
import shutil
import signal
import string
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import covetest  # noqa: E402
from apiclient import Api, Box, Broken, Reply, Stream, WebSocket, joined  # noqa: E402,F401
from covetest import has_ended, nothing_happens_for, pause, wait_for  # noqa: E402,F401
from hoststate import entries, held_namespaces, mount_lines, network_namespace, read, read_loops, reap_orphans  # noqa: E402

SLOW = float(os.environ.get("COVE_TEST_SLOW", "1"))
MARK = "COVETEST_DAEMON"  # in the environment of everything that a daemon starts
START_SECONDS = 60.0 * SLOW
STOP_SECONDS = 60.0 * SLOW
MIB = 1 << 20
STORAGE = "1G"  # what a daemon takes for templates and disks, if it ever needs any: by itself it would take a quarter of the machine's

LIVE = ("initializing", "ready", "running", "paused", "stopped", "terminating")
STUCK = ("initializing", "terminating")

_daemons = []


class Daemon:
    """One daemon and its state directory. options go to `cove serve`; prefix stands before the program (setpriv …).

    config is the text of its cove.yaml, or what is to be in it (dicts and lists: JSON is YAML). Such a one has storage.size 1G unless it says
    otherwise; a text is taken as it is; False: there is none.
    """

    def __init__(self, options=(), prefix=(), state=None, config=None, cove=None, env=None, owner=None):
        self.place = covetest.make_temporary_directory("daemon")
        self.state = Path(state) if state else self.place / "state"
        self.log_path = self.place / "log"
        self.options, self.prefix, self.cove, self.env = list(options), list(prefix), cove, env or {}
        if config is None and "--config" not in self.options and not self.prefix:
            config = {}
        if config is not None and config is not False:
            self.write_config(config)
            self.options += ["--config", str(self.config_path)]
        if owner is not None:
            os.chown(self.place, owner, owner)
            if not cove and "COVE_COVED" not in os.environ:
                self.cove = covetest.public_path()
        self.child = self.url = self._instance = None
        self.worker_killed = None  # how long the log was then
        self.pass_fds = ()  # to whoever is started next
        _daemons.append(self)

    # Configuration

    @property
    def config_path(self):
        return self.place / "cove.yaml"

    def write_config(self, config):
        """Takes effect with the next start or hang_up(). In one move: never half a file."""
        fresh = self.place / "cove.yaml.new"
        if not isinstance(config, str):
            config = {"storage": {"size": STORAGE}, **config}
        fresh.write_text(config if isinstance(config, str) else json.dumps(config, indent=2) + "\n")
        fresh.chmod(0o644)  # a daemon that is no longer root reads it again
        fresh.rename(self.config_path)

    def hang_up(self, config=None):
        """SIGHUP, after writing another config; gives what the daemon then logs about it."""
        if config is not None:
            self.write_config(config)
        began = self.log_path.stat().st_size
        os.kill(self.pid, signal.SIGHUP)

        def said():
            text = self.log_path.read_bytes()[began:].decode(errors="replace")
            return text if re.search(r"config.*(reloaded|stays)", text) else None
        text = wait_for(said, START_SECONDS)
        if not text:
            raise AssertionError(f"the daemon says nothing to SIGHUP\n{self.log()}")
        return text

    # Start and end

    def arguments(self, options=()):
        coved = os.environ.get("COVE_COVED")
        program = [str(self.cove or covetest.cove_path()), "serve"] if self.cove or not coved else [coved]
        return [*self.prefix, *program, "--state", str(self.state), "--listen", "127.0.0.1:0", *self.options, *options]

    def start(self, *options, wait=True):
        """options are for this start only."""
        self.log_began = began = self.log_path.stat().st_size if self.log_path.exists() else 0
        with open(self.log_path, "ab") as log:
            self.child = subprocess.Popen(self.arguments(options), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          env=covetest.merged_environment({MARK: str(self.place), **self.env}),
                                          pass_fds=self.pass_fds)
        self.url = self.worker_killed = None
        if wait:
            self.wait_until_listening(began)
            self.wait_until_ready()
        return self

    def wait_until_listening(self, began=0):
        def listening():
            found = re.search(rb"http://([0-9.]+|\[[0-9a-f:]+\]):([0-9]+)", self.log_path.read_bytes()[began:])
            if found:
                self.url = (found[1].decode().strip("[]"), int(found[2]))
            return found or self.child.poll() is not None
        if not wait_for(listening, START_SECONDS) or not self.url:
            raise AssertionError(f"the daemon did not come up: {' '.join(self.child.args)}\n{self.log()}")

    def tls_port(self):
        """Where it listens for TLS, as it says."""
        found = re.findall(rb"https://[^ ]*:([0-9]+)", self.log_path.read_bytes())
        if not found:
            raise AssertionError(f"the daemon does not listen for TLS\n{self.log()}")
        return int(found[-1])

    def wait_until_ready(self, seconds=START_SECONDS):
        """Listens, and has taken stock of what was there before."""
        def ready():
            try:
                reply = self.api.call("GET", "/healthz")
                return reply.status == 200 and reply.json["status"] == "ok"
            except (Broken, OSError):
                return self.child.poll() is not None
        if not wait_for(ready, seconds, 0.01) or self.child.poll() is not None:
            raise AssertionError(f"the daemon is not ready within {seconds} s\n{self.log()}")

    @property
    def running(self):
        return self.child is not None and self.child.poll() is None

    def terminate(self, seconds=STOP_SECONDS):
        """SIGTERM and its end; gives the exit status. What becomes of the sandboxes is the daemon's choice."""
        self.child.terminate()
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the daemon did not end within {seconds} s of SIGTERM\n{self.log()}") from None

    def kill(self):
        """kill -9 of coved; the sandboxes are to live on."""
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        self.child.wait(60)

    def restart(self, *options):
        return self.start(*options)

    def end(self):
        """Deletes all sandboxes, stops, removes the state. Gives what is left that should not be, in words."""
        trouble = []
        try:
            if not self.running:
                self.start()
            for record in self.api.list():
                self.api.expect((200, 404), "DELETE", f"/api/sandbox/{record['id']}", query={"force": "true"})
            left = self.leftovers()
            status = self.terminate()
            if status != 0:
                trouble.append(f"the daemon ended with status {status}\n{self.log()}")
            trouble += left + [f"after the end: {line}" for line in self.remains()]
        except (AssertionError, Broken, OSError) as error:
            trouble.append(f"{error}\n{self.log()}")
        trouble += self.sanitizer_reports()
        self.wreck()
        return trouble

    def wreck(self):
        """Takes away by force what is ours and still there. Not a test: so that a failing one does no harm to others."""
        def all_killed():  # over again: the spawner may be at work still, and freeze or start something meanwhile
            for path in self.cgroups():  # what is frozen does not die
                for file, word in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
                    with contextlib.suppress(OSError):  # it goes meanwhile
                        if os.path.exists(f"{path}/{file}"):
                            Path(path, file).write_text(word)
            for pid in self.processes():
                kill_quietly(pid)
            return not self.processes()
        wait_for(all_killed)
        if self.child:
            self.child.wait()
        reap_orphans(known={d.child.pid for d in _daemons if d.child})  # the dead hold their cgroups until somebody asks for their end
        for path in sorted(self.cgroups(), key=len, reverse=True):
            try:
                os.rmdir(path)
            except OSError:
                pass
        if self in _daemons:
            _daemons.remove(self)
        try:
            covetest.remove_tree(self.place)
        except FileNotFoundError:
            pass
        if self.state.exists():
            shutil.rmtree(self.state, ignore_errors=True)

    # Doors

    @property
    def socket(self):
        return self.state / "cove.sock"

    @property
    def api(self):
        """Over the unix socket, as its owner."""
        if not hasattr(self, "_api"):
            self._api = Api(self.socket)
        return self._api

    @property
    def token(self):
        return (self.state / "admin.token").read_text().strip()

    def tcp(self, token=None):
        return Api(self.url, token if token is not None else self.token)

    def cli(self, *args, **kwargs):
        return covetest.run([*args], env={"COVE_SOCKET": str(self.socket), "COVE_STATE": str(self.state)}, **kwargs)

    # What it holds

    @property
    def instance(self):
        if self._instance is None:
            self._instance = (self.state / "instance").read_text().strip()
        return self._instance

    def tags(self):
        """Characters 2 to 6 of the ids of its sandboxes."""
        letters = string.ascii_lowercase + string.digits
        key = bytes.fromhex((self.state / "node.key").read_text())
        numbers = (int.from_bytes(hmac.digest(key, f"cove node tag {i}".encode(), "sha256")[:8], "big") for i in range(64))
        return {"".join(letters[n // 36**k % 36] for k in range(5)) for n in numbers}

    def cgroups(self):
        """Every cgroup of this daemon's sandboxes, in all hierarchies."""
        try:
            prefix = f"cove-{self.instance}-"
        except OSError:
            return []
        found = []
        for mount in mount_lines("/proc/self/mountinfo"):
            if mount["type"] in ("cgroup", "cgroup2"):
                for directory, names, _ in os.walk(mount["point"]):
                    found += [os.path.join(directory, name) for name in names if name.startswith(prefix)]
                    names[:] = [name for name in names if not name.startswith("cove-") or name.startswith(prefix)]
        return sorted(found)

    def processes(self):
        """pid → name of everything that the daemon has started: its own helpers, and what runs in its sandboxes."""
        mark = f"{MARK}={self.place}".encode()
        gate = f"{self.state}/run/gate.sock".encode()  # gets nothing of our environment
        try:
            group = f"/cove-{self.instance}-".encode()
        except OSError:
            group = None
        parents, names, ours = {}, {}, set()
        for name in entries("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            pid = int(name)
            _, _, rest = read(f"/proc/{pid}/stat").decode(errors="replace").rpartition(")")
            fields = rest.split()
            if not fields or fields[0] in "ZX":
                continue
            parents[pid], names[pid] = int(fields[1]), read(f"/proc/{pid}/comm").decode(errors="replace").strip()
            if (mark in read(f"/proc/{pid}/environ").split(b"\0") or (group and group in read(f"/proc/{pid}/cgroup")) or
                    gate in read(f"/proc/{pid}/cmdline")):
                ours.add(pid)
        if self.child and self.child.pid in parents:
            ours.add(self.child.pid)
        while True:  # children of ours are ours
            more = {pid for pid, parent in parents.items() if parent in ours and pid not in ours}
            if not more:
                return {pid: names[pid] for pid in sorted(ours)}
            ours |= more

    @property
    def pid(self):
        """Of coved itself: `cove serve` becomes it."""
        return self.child.pid

    def spawners(self):
        """pid → name of the privileged helpers: the worker that makes sandboxes, the keeper that replaces dead ones."""
        return {pid: name for pid, name in self.processes().items() if name in ("cove-keeper", "cove-spawner", "cove-disk", "cove-depot", "cove-trees")}

    def _named(self, name):
        return next((pid for pid, found in self.processes().items() if found == name), None)

    def zygotes(self):
        """Interpreters that stand ready."""
        return [pid for pid in self.processes() if is_of_a_zygote(read(f"/proc/{pid}/cgroup").decode())]

    @property
    def keeper(self):
        return self._named("cove-keeper")

    @property
    def worker(self):
        """The youngest of that name below the keeper: what a dead worker was about to make is the keeper's too, and has its name until it is a sandbox."""
        keeper, born = self.keeper, {}
        for pid in (pid for pid, name in self.processes().items() if name == "cove-spawner"):
            _, _, rest = read(f"/proc/{pid}/stat").decode(errors="replace").rpartition(")")
            fields = rest.split()
            if fields and keeper in (None, int(fields[1])):
                born[pid] = int(fields[19])
        return max(born, key=lambda pid: (born[pid], pid), default=None)

    @property
    def gate(self):
        """pid of cove-gate; None: nobody has needed it yet, or it has ended."""
        return self._named("cove-gate")

    def kill_worker(self):
        """The keeper starts another one; revive() waits for it."""
        pid = self.worker
        if pid:
            self.worker_killed = self.log_path.stat().st_size
            kill_quietly(pid)
        return pid

    def kill_gate(self):
        pid = self.gate
        if pid:
            kill_quietly(pid)
        return pid

    def strange_namespaces(self, groups=False):
        """inode → program: network namespaces that coved or the gate keep alive, and in which nobody lives any more. groups: hubs are no such."""
        known = {network_namespace(pid) for pid in (*self.processes(), "self")}  # a local client's socket is of where the client is
        found = {}
        for name, pid in (("coved", self.pid), ("cove-gate", self.gate)):
            try:
                held = held_namespaces(pid) if pid else {}
            except ProcessLookupError:
                continue
            found.update({inode: name for inode, kinds in held.items() if inode not in known and not (groups and kinds == {"namespace"})})
        return found

    def kill_keeper(self):
        pid = self.keeper
        if pid:
            kill_quietly(pid)
            wait_for(lambda: has_ended(pid))
        return pid

    def kill_helpers(self):
        """All who have privileges."""
        pids = list(self.spawners())
        for pid in pids:
            kill_quietly(pid)
        wait_for(lambda: all(has_ended(pid) for pid in pids))

    def is_settled(self):
        """It has heard of the deaths: without a keeper it ends, and of another worker it says that it is there."""
        if not self.running:
            return True
        began = self.worker_killed
        return self.keeper and (began is None or b"the spawner died and is back" in self.log_path.read_bytes()[began:])

    def revive(self):
        """After something of it was killed: a daemon that is ready, started again if it did not outlive that."""
        if not wait_for(self.is_settled):
            raise AssertionError(f"the daemon has not heard of a death\n{self.log()}")
        if self.running:
            try:
                self.wait_until_ready()
            except AssertionError:
                if self.running:
                    raise
        if not self.running:
            self.restart()
        self.worker_killed = None

    def pid_one(self, box):
        """PID 1 of a sandbox, as the host numbers it."""
        for path in self.cgroups():
            if path.endswith(box.id):
                for line in read(f"{path}/cgroup.procs").split():
                    status = read(f"/proc/{int(line)}/status").decode(errors="replace")
                    numbers = re.search(r"^NSpid:\s+(.*)$", status, re.M)
                    if numbers and numbers[1].split()[-1] == "1":
                        return int(line)
        raise AssertionError(f"no PID 1 of {box.id} in {self.cgroups()}")

    def runs(self, words):
        """pids of what runs in its sandboxes with these words in the command line. Needs no living daemon."""
        return [pid for pid in self.processes() if words in command_of(pid)]

    def wait_for_begin_of(self, words):
        if not wait_for(lambda: self.runs(words)):
            raise AssertionError(f"nothing runs that says {words!r}\n{self.log()}")

    def wait_for_end_of(self, words):
        if not wait_for(lambda: not self.runs(words)):
            raise AssertionError(f"something still runs that says {words!r}: {[command_of(pid) for pid in self.runs(words)]}")

    def wait_for_processes(self, n, name):
        """Until there are so many of a name: a fork bomb that has gone off."""
        if not wait_for(lambda: list(self.processes().values()).count(name) >= n):
            raise AssertionError(f"{list(self.processes().values()).count(name)} processes are called {name!r}, not {n}")

    def descriptors(self):
        return len(entries(f"/proc/{self.pid}/fd"))

    def memory(self, pid=None):
        """Resident bytes that belong to the process alone."""
        found = re.search(rb"^RssAnon:\s+(\d+) kB", read(f"/proc/{pid or self.pid}/status"), re.M)
        return int(found[1]) * 1024 if found else 0

    def files(self):
        """Everything below the state directory, relative."""
        found = []
        for directory, names, files in os.walk(self.state):
            found += [os.path.relpath(os.path.join(directory, name), self.state) for name in names + files]
        return sorted(found)

    # What must not be left

    def leftovers(self, seconds=60.0 * SLOW):
        """With no sandbox alive and the daemon running: what is left of any, in words."""
        left = None

        def look():
            nonlocal left
            reap_orphans(known={d.child.pid for d in _daemons if d.child})
            left = [f"cgroup {path}" for path in self.cgroups() if not is_of_a_zygote(path)]
            keep = {self.pid, self.child.pid, *self.spawners(), *self.zygotes(), self.gate}
            left += [f"process {pid} {name}: {command_of(pid)}" for pid, name in self.processes().items() if pid not in keep]
            left += [f"file {path}" for path in self.files() if is_of_a_sandbox(path)]
            left += [f"network namespace {inode}, kept by {name}" for inode, name in self.strange_namespaces().items()]
            return not left
        wait_for(look, seconds, 0.1)
        return left

    def remains(self, seconds=60.0 * SLOW):
        """With the daemon stopped and no sandbox alive: what is left, in words."""
        left = None

        def look():
            nonlocal left
            reap_orphans(known={d.child.pid for d in _daemons if d.child})
            left = [f"cgroup {path}" for path in self.cgroups()]
            left += [f"process {pid} {name}: {command_of(pid)}" for pid, name in self.processes().items()]
            left += [f"file {path}" for path in self.files() if is_of_a_sandbox(path) or path.endswith(".sock")]
            left += [f"loop device {line}" for line in read_loops() if f" {self.state}/" in line]
            return not left
        wait_for(look, seconds, 0.1)
        return left

    def sanitizer_reports(self):
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        marks = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "Assertion `")
        return [f"in the log: {line}\n{text[-6000:]}" for line in text.splitlines() if any(m in line for m in marks)][:1]

    def log(self, size=3000):
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        return f"log of the daemon: {text[-size:]}"


# A sandbox's id as a whole part of a name: its directory, its socket, its journals.
OF_A_SANDBOX = re.compile(r"(^|[/.-])[a-z][a-z0-9]{20}([/.-]|$)")


def is_of_a_zygote(path):
    return "-zygote-" in path


def is_of_a_sandbox(path):
    if path.startswith("recordings"):
        return False  # kept on purpose, for a time
    return bool(OF_A_SANDBOX.search(path)) and not path.startswith("artifacts/")  # which outlive them, and are called alike


def command_of(pid):
    return read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()[:200]


@contextlib.contextmanager
def stopped(pids):
    """They stand still meanwhile. One that has ended by then, has."""
    for pid in pids:
        kill_quietly(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            kill_quietly(pid, signal.SIGCONT)


def kill_quietly(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


@atexit.register
def _end_what_is_left():
    for daemon in list(_daemons):
        daemon.wreck()


# Tests

class Shared:
    """The daemons that the tests of a suite share, by their options."""

    daemons = {}

    @classmethod
    def get(cls, options):
        found = cls.daemons.get(options)
        if found is None or not found.running:
            if found is not None:
                print(f"daemon: it is dead, and is started again\n{found.log()}", flush=True)
            else:
                found = cls.daemons[options] = Daemon(options)
            found.start()
            found.api.create().delete()
            found.descriptors_before = found.descriptors()
        return found

    @classmethod
    def end(cls, test):
        trouble = []
        for daemon in cls.daemons.values():
            if not daemon.running:
                trouble.append(f"the daemon died\n{daemon.log()}")
            else:
                trouble += cls.check_descriptors(daemon)
            trouble += daemon.end()
        cls.daemons.clear()
        if trouble:
            test.fail("\n".join(trouble))

    @staticmethod
    def check_descriptors(daemon):
        for record in daemon.api.list():
            daemon.api.expect((200, 404), "DELETE", f"/api/sandbox/{record['id']}", query={"force": "true"})
        allowed = daemon.descriptors_before + 3
        if not wait_for(lambda: daemon.descriptors() <= allowed, interval=0.1):
            return [f"{daemon.descriptors_before} descriptors were open at first, {daemon.descriptors()} are at the end"]
        return []


class Case(covetest.TestCase):
    options = ()  # of the shared daemon

    @property
    def daemon(self):
        return Shared.get(self.options)

    @property
    def api(self):
        return self.daemon.api

    def box(self, api=None, **fields):
        """A sandbox that is deleted with the test."""
        box = (api or self.api).create(**fields)
        self.addCleanup(self.discard, box)
        return box

    def discard(self, box):
        try:
            box.expect((200, 404), "DELETE", query={"force": "true"})
        except (Broken, OSError):
            pass  # its daemon has been stopped

    def start_daemon(self, *options, **kwargs):
        """A daemon of the test's own; must leave nothing behind."""
        daemon = Daemon(options, **kwargs)
        self.addCleanup(self.end_daemon, daemon)
        return daemon.start()

    def end_daemon(self, daemon):
        if daemon not in _daemons:
            return
        trouble = daemon.end()
        if trouble:
            self.fail("\n".join(trouble))

    def result(self, result, **wanted):
        """Compares the named fields of a result, and shows all of it when they differ."""
        self.assertEqual({key: result.get(key) for key in wanted}, wanted, str(result)[:2000])
        return result

    def patience(self, seconds):
        """A ceiling for what takes so long on a machine that does nothing else. Less than the minute that commands sleep in these tests."""
        return 30 + 3 * seconds * SLOW


class EndCheck(covetest.LeakCheck):
    """The last test of every suite with a daemon: it ends well, and then the host is as before."""

    title = "end of the daemon and leak check"

    def runTest(self):
        Shared.end(self)
        super().runTest()


def main(**kwargs):
    covetest.LeakCheck = EndCheck
    covetest.main(**kwargs)
