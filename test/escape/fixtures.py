"""fixtures: what attempts need from the host, and what the host must look like afterwards.

An attempt without an entry in FIXTURES runs with the options that all share. An entry is a function that gets a Host
and returns a Setup, or a dictionary of such functions when the same attempt is made in several situations.
"""

import ctypes
import fcntl
import hashlib
import os
import pty
import secrets
import shutil
import socket
import stat
import struct
import subprocess
import sys
import termios
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

import covetest

PROBE = "/mnt/probe/probe"
NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time")
MIB = 1024 * 1024
FIRST_SANDBOX_ID = 100000  # below are people and services of the host


def probe_path():
    """The probe; COVE_PROBE overrides."""
    return Path(os.environ.get("COVE_PROBE", covetest.REPO / "build/test/cove-probe"))


@dataclass
class Setup:
    options: list = field(default_factory=list)     # for cove run
    arguments: list = field(default_factory=list)   # for the attempt
    run: dict = field(default_factory=dict)         # for covetest.run
    judge: Optional[Callable] = None                # of the result, instead of the probe's own verdict
    while_running: Optional[Callable] = None        # gets the probe's first line, and ends what holds it up
    after: Optional[Callable] = None                # looks at the host when the sandbox has gone


class Host:
    """The host's side of one attempt: a marker that must stay out of reach, and the probe."""

    def __init__(self, test):
        self.test = test
        self.tmp = test.tmp
        self.token = secrets.token_hex(16)
        self.marker = self.tmp / "marker"
        self.marker.write_text(self.token + "\n")
        self.marker.chmod(0o644)
        (self.tmp / "probe").mkdir()
        shutil.copy(probe_path(), self.tmp / "probe/probe")
        (self.tmp / "probe/probe").chmod(0o755)

    def options(self, user):
        root = os.stat("/")
        facts = {
            "TEST": "1",
            "PIDNS": os.readlink("/proc/self/ns/pid"),
            "ROOT": f"{root.st_dev}:{root.st_ino}",
            "MARKER": self.marker,
            "TOKEN": self.token,
        }
        out = ["--user", user, "--timeout", "60s", "--bind", f"{self.tmp / 'probe'}:/mnt/probe"]
        for name, value in facts.items():
            out += ["--env", f"COVE_ESCAPE_{name}={value}"]
        return out

    def directory(self, name, mode=0o755):
        path = self.tmp / name
        path.mkdir()
        path.chmod(mode)
        return path

    def file(self, path, text=None, mode=0o644):
        path.write_text(self.token if text is None else text)
        path.chmod(mode)
        return path

    def victim(self):
        """A process of the host that the probe would know by its command line; ended with the test."""
        child = subprocess.Popen(["/bin/sh", "-c", "read forever", "cove-escape-victim"], stdin=subprocess.PIPE,
                                 start_new_session=True)
        self.test.addCleanup(covetest.stop, child)
        return child

    def copy_of_probe(self, path, mode):
        shutil.copy(self.tmp / "probe/probe", path)
        path.chmod(mode)
        return path


# Files

def inherited_fds(host):
    numbers = (3, 7, 63, 200, 900)
    fds = [os.open(path, os.O_RDONLY) for path in ("/", host.tmp, host.marker, "/proc", "/etc")]
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, number) for fd, number in zip(fds, numbers)]
    for fd in fds + high:
        os.set_inheritable(fd, True)
        host.test.addCleanup(os.close, fd)
    return Setup(run={"close_fds": True, "pass_fds": fds + high})


def stdin_directory(host):
    fd = os.open(host.tmp, os.O_RDONLY | os.O_DIRECTORY)
    host.test.addCleanup(os.close, fd)
    return Setup(run={"stdin": fd})


def stdin_file(host):
    stream = open(host.marker, "rb")
    host.test.addCleanup(stream.close)
    before = fingerprint(host.marker)

    def after():
        host.test.assertEqual(fingerprint(host.marker), before)
    return Setup(run={"stdin": stream}, after=after)


def overlay_write(host):
    name = f"cove-escape-{host.token}"
    env = fingerprint("/usr/bin/env")

    def after():
        found = [path for path in everywhere(name) if os.path.lexists(path)]
        host.test.assertEqual(found, [], "written from inside")
        host.test.assertEqual(fingerprint("/usr/bin/env"), env)
    return Setup(arguments=[name], after=after)


def everywhere(name):
    for directory in ("/", "/usr", "/usr/bin", "/usr/lib", "/usr/share", "/usr/local", "/etc", "/var", "/var/lib", "/opt",
                      "/root", "/home", "/srv", "/mnt", "/media", "/boot", "/tmp", "/var/tmp", "/run", "/dev/shm"):
        yield os.path.join(directory, name)


BASE_NAMES = set("""root daemon bin sys adm tty disk lp mail news uucp man proxy kmem dialout fax voice cdrom floppy
    tape sudo audio dip www-data backup operator list irc src shadow utmp video sasl plugdev staff games users nogroup
    nobody sync gnats _apt input kvm render sgx crontab netdev user""".split())


def host_users(host):
    names = set()
    for path in ("/etc/passwd", "/etc/group"):
        names |= {line.partition(":")[0] for line in Path(path).read_text().splitlines()}
    return Setup(arguments=sorted(names - BASE_NAMES)[:200])


TOP_LEVEL = set("""bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv sys tmp usr
    var""".split())


def host_paths(host):
    """What is on this host and in no template. Names that every system has prove nothing."""
    paths = [host.tmp, host.marker, covetest.cove_path().resolve(), covetest.REPO.resolve()]
    paths += [f"/{name}" for name in os.listdir("/") if name not in TOP_LEVEL]
    for directory in ("/root", "/home", "/opt", "/srv", "/media", "/var/log", "/var/backups"):
        try:
            paths += [f"{directory}/{name}" for name in sorted(os.listdir(directory))]
        except OSError:
            pass
    common = {"/home/user", "/root/.bashrc", "/root/.profile", "/var/log/apt"}
    paths = [path for path in map(str, paths) if path not in common and not path.startswith("/usr/")]
    return Setup(arguments=paths[:300])


def machine_id(host):
    try:
        text = Path("/etc/machine-id").read_text().strip()
    except OSError:
        text = ""
    return Setup(arguments=[text or "0" * 32])


def setuid_file(host):
    directory = host.directory("suid")
    host.copy_of_probe(directory / "probe", 0o6755)
    return Setup(options=["--bind", f"{directory}:/mnt/suid"], arguments=["/mnt/suid/probe"])


def filecap_file(host):
    directory = host.directory("fcap")
    path = host.copy_of_probe(directory / "probe", 0o755)
    revision_2_effective, all_of_them = 0x02000001, 0xffffffff
    os.setxattr(path, "security.capability", struct.pack("<5I", revision_2_effective, all_of_them, 0, 0x1ff, 0))
    return Setup(options=["--bind", f"{directory}:/mnt/fcap"], arguments=["/mnt/fcap/probe"])


def fingerprint(path):
    """What a change of content, owner, mode or time would change."""
    st = os.lstat(path)
    facts = [str(path), oct(st.st_mode), st.st_uid, st.st_gid, st.st_mtime_ns]
    if stat.S_ISREG(st.st_mode):
        facts += [st.st_size, hashlib.sha256(Path(path).read_bytes()).hexdigest()]
    elif stat.S_ISLNK(st.st_mode):
        facts.append(os.readlink(path))
    elif stat.S_ISCHR(st.st_mode):
        facts.append(st.st_ctime_ns)
    return facts


def fingerprint_tree(root):
    out = [fingerprint(root)]
    for directory, directories, files in os.walk(root):
        directories.sort()
        out += [fingerprint(os.path.join(directory, name)) for name in sorted(directories + files)]
    return out


# Binds

def lent(host, writable=False, name="lent"):
    """A directory with a file of the host beside it that must stay out of reach."""
    host.file(host.tmp / "outside")
    directory = host.directory(name, 0o755)
    return directory, ["--bind", f"{directory}:/mnt/lent{':rw' if writable else ''}"]


def bind_dotdot(host):
    _, options = lent(host)
    return Setup(options=options, arguments=["/mnt/lent"])


def bind_symlink(host):
    directory, options = lent(host)
    links = {"absolute": host.tmp / "outside", "relative": "../outside", "parent": "..", "directory": host.tmp,
             "proc": f"/proc/1/root{host.tmp}/outside", "cwd": f"/proc/self/cwd/../../../..{host.tmp}/outside"}
    for name, target in links.items():
        (directory / name).symlink_to(target)
    return Setup(options=options, arguments=[f"/mnt/lent/{name}" for name in links])


def bind_moved(host):
    directory, options = lent(host, writable=True)
    directory.chmod(0o777)
    (directory / "inner/deep").mkdir(parents=True)

    def move():
        if covetest.wait_for(lambda: (directory / "ready").exists()):
            (directory / "inner").rename(host.tmp / "inner")
            (directory / "go").touch()

    mover = threading.Thread(target=move)
    mover.start()
    host.test.addCleanup(mover.join)
    return Setup(options=options, arguments=["/mnt/lent"])


def bind_readonly(host):
    directory, options = lent(host)
    host.file(directory / "file", mode=0o666)
    (directory / "dir").mkdir()
    directory.chmod(0o777)
    before = fingerprint_tree(directory)

    def after():
        host.test.assertEqual(fingerprint_tree(directory), before)
    return Setup(options=options, arguments=["/mnt/lent"], after=after)


def dangerous_files(root):
    """Set-id files that belong to somebody on the host, file capabilities that count there, devices."""
    found = []
    for directory, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(directory, name)
            st = os.lstat(path)
            if stat.S_ISBLK(st.st_mode) or stat.S_ISCHR(st.st_mode):
                found.append(f"device {path}")
            if not stat.S_ISREG(st.st_mode):
                continue
            if st.st_mode & stat.S_ISUID and st.st_uid < FIRST_SANDBOX_ID:
                found.append(f"set-uid {st.st_uid} {path}")
            if st.st_mode & stat.S_ISGID and st.st_gid < FIRST_SANDBOX_ID:
                found.append(f"set-gid {st.st_gid} {path}")
            if "security.capability" in os.listxattr(path) and counts_on_the_host(path):
                found.append(f"file capabilities {path}")
    return sorted(found)


def counts_on_the_host(path):
    data = os.getxattr(path, "security.capability")
    revision = data[3]
    return revision < 3 or struct.unpack_from("<I", data, 20)[0] == 0  # revision 3 names the namespace's root


def bind_leaves(host):
    directory, options = lent(host, writable=True)
    directory.chmod(0o777)

    def after():
        host.test.assertEqual(dangerous_files(host.tmp), [], "left by the guest")
    return Setup(options=options, arguments=["/mnt/lent"], after=after)


def bind_leaves_owned(host):
    """The same in a directory that only its owner, host root, may write to."""
    setup = bind_leaves(host)
    (host.tmp / "lent").chmod(0o755)
    return setup


def bind_leaves_of_somebody(host):
    """The same in a directory of one of the host's users."""
    setup = bind_leaves_owned(host)
    if os.geteuid() == 0:
        os.chown(host.tmp / "lent", 12345, 12345)
    return setup


BINDS_OF_ALL_KINDS = {"open to all": bind_leaves, "root's": bind_leaves_owned, "a user's": bind_leaves_of_somebody}


def bind_rewrite(host):
    directory, options = lent(host, writable=True)
    path = host.file(directory / "suid", "#!/bin/true\n", 0o4755)
    before = path.read_bytes()

    def after():
        still_setuid = bool(path.stat().st_mode & stat.S_ISUID)
        host.test.assertFalse(still_setuid and path.read_bytes() != before,
                              "the guest rewrote a set-uid file of host root, which kept the bit")
    return Setup(options=options, arguments=["/mnt/lent"], after=after)


# Devices, terminals

def mknod_disk(host):
    device = os.stat("/").st_dev
    return Setup(arguments=[os.major(device), os.minor(device)])


def dev_chmod(host):
    paths = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")]
    before = [fingerprint(path) for path in paths]

    def after():
        host.test.assertEqual([fingerprint(path) for path in paths], before)
    return Setup(after=after)


def dev_pts(host):
    for fd in pty.openpty():
        host.test.addCleanup(os.close, fd)
    return Setup()


def terminal(host):
    """cove runs in a session whose controlling terminal is its stdin, as when a person starts it."""
    master, slave = pty.openpty()
    host.test.addCleanup(os.close, master)
    host.test.addCleanup(os.close, slave)

    def after():
        os.set_blocking(master, False)
        try:
            typed = os.read(master, 4096)
        except OSError:
            typed = b""
        host.test.assertEqual(typed, b"", "typed into the caller's terminal (and echoed)")

    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    return Setup(run={"stdin": slave, "start_new_session": True, "preexec_fn": take_terminal}, after=after)


# Processes

def with_victim(host):
    child = host.victim()

    def after():
        host.test.assertIsNone(child.poll(), "a process of the host was ended from inside")
    return Setup(arguments=[child.pid], after=after)


def kill_all(host):
    setup = with_victim(host)

    def judge(result):
        host.test.assertIn(result.rc, (0, 137), result)
    setup.judge = judge
    return setup


def namespaces(host):
    return Setup(arguments=[os.readlink(f"/proc/self/ns/{name}") for name in NAMESPACES])


# Objects with names

def libc():
    return ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
    return result


def sysv_objects(host):
    IPC_CREAT, IPC_RMID = 0o1000, 0
    key = int(host.token[:7], 16)
    c = libc()
    shm = checked(c.shmget(key, 4096, IPC_CREAT | 0o666), "shmget")
    host.test.addCleanup(c.shmctl, shm, IPC_RMID, None)
    msg = checked(c.msgget(key, IPC_CREAT | 0o666), "msgget")
    host.test.addCleanup(c.msgctl, msg, IPC_RMID, None)
    sem = checked(c.semget(key, 1, IPC_CREAT | 0o666), "semget")
    host.test.addCleanup(c.semctl, sem, 0, IPC_RMID)
    return Setup(arguments=[key])


def sysv_scan(host):
    sysv_objects(host)
    return Setup()


def posix_shm(host):
    name = f"/cove-escape-{host.token}"
    path = host.file(Path(f"/dev/shm{name}"), mode=0o666)
    host.test.addCleanup(path.unlink)
    return Setup(arguments=[name])


def posix_mq(host):
    name = f"/cove-escape-{host.token}"
    c = libc()
    queue = checked(c.mq_open(name.encode(), os.O_CREAT | os.O_RDWR, 0o666, None), "mq_open")
    host.test.addCleanup(c.mq_unlink, name.encode())
    host.test.addCleanup(os.close, queue)
    return Setup(arguments=[name])


def unix_listener(host, address):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    host.test.addCleanup(listener.close)
    listener.bind(address)
    listener.listen(8)
    return listener


def abstract_socket(host):
    name = f"cove-escape-{host.token}"
    unix_listener(host, f"\0{name}")
    return Setup(arguments=[name])


def abstract_socket_net_host(host):
    setup = abstract_socket(host)
    setup.options = ["--net", "host"]
    return setup


def unix_socket(host):
    path = host.tmp / "socket"
    unix_listener(host, str(path))
    path.chmod(0o777)
    return Setup(arguments=[path])


def unix_credentials(host):
    directory = host.directory("sockets")
    path = directory / "socket"
    listener = unix_listener(host, str(path))
    path.chmod(0o777)
    listener.settimeout(30)

    def answer():
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            _pid, uid, _gid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            connection.sendall(str(uid).encode())

    answerer = threading.Thread(target=answer, daemon=True)
    answerer.start()

    def after():
        listener.shutdown(socket.SHUT_RDWR)
        answerer.join()
    return Setup(options=["--bind", f"{directory}:/mnt/sockets"], arguments=["/mnt/sockets/socket"], after=after)


# Network

def tcp_listener(host, family, address):
    listener = socket.socket(family, socket.SOCK_STREAM)
    host.test.addCleanup(listener.close)
    listener.bind((address, 0))
    listener.listen(8)
    return listener


def must_stay_silent(host, listener):
    def after():
        listener.setblocking(False)
        try:
            listener.accept()
        except BlockingIOError:
            return
        host.test.fail("somebody connected to the host's listener")
    return after


def loopback4(host):
    listener = tcp_listener(host, socket.AF_INET, "0.0.0.0")
    return Setup(arguments=[listener.getsockname()[1]], after=must_stay_silent(host, listener))


def loopback6(host):
    if not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists():
        return loopback4(host)
    listener = tcp_listener(host, socket.AF_INET6, "::")
    return Setup(arguments=[listener.getsockname()[1]], after=must_stay_silent(host, listener))


def host_addresses():
    SIOCGIFADDR = 0x8915
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(s, SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue
            address = socket.inet_ntoa(answer[20:24])
            if not address.startswith("127."):
                yield address


def host_address(host):
    setup = loopback4(host)
    setup.arguments += sorted(host_addresses())
    return setup


def datagram(host):
    family = socket.AF_INET6 if Path("/proc/net/if_inet6").exists() else socket.AF_INET
    receiver = socket.socket(family, socket.SOCK_DGRAM)
    host.test.addCleanup(receiver.close)
    receiver.bind(("", 0))

    def after():
        receiver.setblocking(False)
        try:
            host.test.fail(f"the host received {receiver.recv(64)!r}")
        except BlockingIOError:
            pass
    return Setup(arguments=[receiver.getsockname()[1]], after=after)


def gated(prepare, mode):
    """The same in a sandbox that has a way out."""
    def prepare_gated(host):
        setup = prepare(host)
        setup.options = [*setup.options, "--net", mode, "--quiet"]
        return setup
    return prepare_gated


def datagrams(host):
    setup = datagram(host)
    setup.arguments += sorted(host_addresses())
    return setup


def hostname(host):
    return Setup(arguments=[socket.gethostname()])


def command_line(host):
    """The token is in an option that names a path of the host."""
    directory = host.directory(f"of-{host.token}")
    return Setup(options=["--bind", f"{directory}:/mnt/{secrets.token_hex(4)}"])


# Limits

def limited(options, arguments=(), reason=None, status=None, check=None):
    """A limit, and how the sandbox has to end. Without a reason: by the probe's own verdict."""
    def prepare(host):
        def judge(result):
            report = result.report
            host.test.assertIn(report["reason"], reason, result)
            if report["reason"] == "exited":
                host.test.assertEqual(result.rc, 0, result)
            elif status is not None:
                host.test.assertEqual(result.rc, status, result)
            if check:
                check(host.test, result)
        return Setup(options=options, arguments=list(arguments), judge=judge if reason else None)
    return prepare


def check_pids(test, result):
    test.assertLessEqual(result.report["pids_peak"] or 0, 64 + 1, result)  # PID 1 is cove's own
    began = time.monotonic()
    subprocess.run(["/bin/true"], check=True)
    test.assertLess(time.monotonic() - began, 30.0, "the host can hardly start a process any more")


def check_output(test, result):
    test.assertLessEqual(len(result.stdout) + len(result.stderr), MIB + 4096, "more than the limit came out")


def check_cpu(test, result):
    used = result.report["cpu_user_ms"] + result.report["cpu_system_ms"]
    test.assertLess(used, 10000, result)  # who ends it may be late by seconds, while each processor burns on; without a limit it is a minute of each
    test.assertGreater(used, 500, result)


def taken(check):
    """While the guest holds all that it can get, the host still gets one."""
    def prepare(host):
        reading, writing = os.pipe()
        host.test.addCleanup(os.close, reading)

        def look(line):
            try:
                host.test.assertTrue(line.startswith(b"holds"), line)
                result = subprocess.run([sys.executable, "-c", check], stderr=subprocess.PIPE)
                host.test.assertEqual(result.returncode, 0, f"the host gets none while the guest {line.decode()}"
                                                            f"{result.stderr.decode()}")
            finally:
                os.close(writing)
        return Setup(run={"stdin": reading}, while_running=look)
    return prepare


TAKE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.{call} < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "{call}")
"""
TAKE_INOTIFY = TAKE.format(call="inotify_init1(0)")
TAKE_TIMER = TAKE.format(call="timer_create(1, None, ctypes.byref(ctypes.c_void_p()))")


def daemon(host):
    before = covetest.HostState.take()
    return Setup(after=lambda: host.test.check_no_leak(before))


MEMORY = dict(options=["--memory", "64M"], arguments=[256])
KILLED = dict(reason=("memory",), status=137)
EITHER = dict(reason=("memory", "exited"), status=137)
DISK_IN_MEMORY = ["--memory", "128M", "--disk", "16M"]
DISK_IN_IMAGE = ["--memory", "128M", "--disk", "100M"]


def disk(arguments):
    return {"memory": limited(DISK_IN_MEMORY, [arguments[0]]), "image": limited(DISK_IN_IMAGE, [arguments[1]])}


# Wrecking

SAMPLE_SIZE = 4000


def sample_of_host():
    """Mode, owner, time and size of many files of the host, in an order that does not change."""
    out = []
    for root in ("/etc", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/local"):
        n = 0
        for directory, directories, files in os.walk(root):
            directories.sort()
            for name in sorted(files):
                path = os.path.join(directory, name)
                try:
                    st = os.lstat(path)
                except OSError:
                    continue
                out.append((path, st.st_mode, st.st_uid, st.st_gid, st.st_size, st.st_mtime_ns))
                n += 1
            if n > SAMPLE_SIZE:
                break
    for path in ("/", "/usr", "/etc", "/bin", "/tmp", "/dev", "/var", "/home", "/root"):
        st = os.lstat(path)
        out.append((path, st.st_mode, st.st_uid, st.st_gid))
    for path in ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"):
        out.append(fingerprint(path))
    out.append(fingerprint(covetest.cove_path()))
    out.append(fingerprint("/etc/passwd"))
    return out


_canary_passed = set()


def canary(host, user):
    """Before anything is destroyed: harmless writes to the same places, which must not reach the host."""
    if user in _canary_passed:
        return
    name = f"cove-escape-{host.token}"
    places = " ".join(everywhere(name))
    nodes = [fingerprint(f"/dev/{node}") for node in ("null", "zero", "full")]
    script = (f"for f in {places} /mnt/treasure/{name}; do echo canary > $f; done 2>/dev/null;"
              "chmod 666 /dev/null /dev/zero 2>/dev/null; true")
    result = covetest.run(["run", *host.options(user), "--bind", f"{host.tmp / 'treasure'}:/mnt/treasure",
                           "--", "/bin/sh", "-c", script])
    host.test.assertEqual(result.rc, 0, result)
    found = [path for path in [*everywhere(name), host.tmp / "treasure" / name] if os.path.lexists(path)]
    host.test.assertEqual(found, [], "a harmless write reached the host: nothing will be wrecked")
    host.test.assertEqual([fingerprint(f"/dev/{node}") for node in ("null", "zero", "full")], nodes,
                          "a harmless chmod reached the host: nothing will be wrecked")
    _canary_passed.add(user)


def wreck(host):
    treasure = host.directory("treasure", 0o777)
    for i in range(20):
        (treasure / f"dir{i}").mkdir(mode=0o755)
        host.file(treasure / f"dir{i}/file", f"treasure {i}\n", 0o666)
    (treasure / "link").symlink_to("/etc/passwd")
    canary(host, host.test.user)
    before = fingerprint_tree(host.tmp), sample_of_host()

    def after():
        host.test.assertEqual(fingerprint_tree(host.tmp), before[0])
        changed = [pair for pair in zip(before[1], sample_of_host()) if pair[0] != pair[1]]
        host.test.assertEqual(changed, [], "the host's files changed")
    return Setup(options=["--env", "COVE_ESCAPE_WRECK=1", "--memory", "512M", "--disk", "200M",
                          "--bind", f"{treasure}:/mnt/treasure"], after=after)


def plain(host):
    return Setup()


FIXTURES = {
    "fs-inherited-fds": inherited_fds,
    "fs-stdin-directory": stdin_directory,
    "fs-reopen-stdin": stdin_file,
    "fs-overlay-write": overlay_write,
    "fs-host-users": host_users,
    "fs-host-paths": host_paths,
    "fs-machine-id": machine_id,
    "fs-setuid": setuid_file,
    "fs-filecap": filecap_file,
    "bind-dotdot": bind_dotdot,
    "bind-symlink": bind_symlink,
    "bind-moved": bind_moved,
    "bind-readonly": bind_readonly,
    "bind-readonly-fd": bind_readonly,
    "bind-remount": bind_readonly,
    "bind-setuid": BINDS_OF_ALL_KINDS,
    "bind-setuid-oddly": BINDS_OF_ALL_KINDS,
    "bind-setuid-rewrite": bind_rewrite,
    "bind-filecap": BINDS_OF_ALL_KINDS,
    "bind-device": bind_leaves,
    "dev-mknod-disk": mknod_disk,
    "dev-chmod": dev_chmod,
    "dev-pts": dev_pts,
    "dev-tty": terminal,
    "tty-stdin": terminal,
    "proc-host-processes": with_victim,
    "proc-host-pid": with_victim,
    "process-kill-host": with_victim,
    "process-kill-all": kill_all,
    "process-kill-group": with_victim,
    "ns-own": namespaces,
    "ipc-sysv": sysv_objects,
    "ipc-sysv-scan": sysv_scan,
    "ipc-posix-shm": posix_shm,
    "ipc-posix-mq": posix_mq,
    "ipc-abstract": abstract_socket,
    "ipc-abstract-list": abstract_socket,
    "ipc-abstract-net": abstract_socket_net_host,
    "ipc-unix": unix_socket,
    "ipc-unix-credentials": unix_credentials,
    "net-loopback4": loopback4,
    "net-loopback6": loopback6,
    "net-host-address": host_address,
    "net-datagram": datagram,
    "net-proc": loopback4,
    "gate-host": host_address,
    "gate-datagram": datagrams,
    "info-hostname": hostname,
    "info-command-line": command_line,
    "limit-processes": limited(["--pids", "32"], [200]),
    "limit-threads": limited(["--pids", "32"], [200]),
    "limit-fork-bomb": limited(["--pids", "64", "--timeout", "2s"], reason=("timeout",), status=124,
                               check=check_pids),
    "limit-memory": limited(**MEMORY, **KILLED),
    "limit-memory-tree": limited(**MEMORY, **EITHER),
    "limit-memory-memfd": limited(**MEMORY, **KILLED),
    "limit-memory-shm": limited(**MEMORY, **EITHER),
    "limit-memory-kernel": limited(**MEMORY, **EITHER),
    "limit-inotify": taken(TAKE_INOTIFY),
    "limit-signals": taken(TAKE_TIMER),
    "limit-terminals": limited([], [1000]),
    "limit-descriptors": limited(["--nofile", "64"], [200]),
    "limit-disk": disk([64, 300]),
    "limit-disk-unlinked": disk([64, 300]),
    "limit-disk-allocate": disk([64, 300]),
    "limit-inodes": disk([200000, 200000]),
    "limit-output": limited(["--output-limit", "1M"], reason=("output_limit",), check=check_output),
    "limit-cpu": limited(["--cpu-time", "1s"], reason=("cpu_time",), status=124, check=check_cpu),
    "limit-cpu-tree": limited(["--cpu-time", "1s"], reason=("cpu_time",), status=124, check=check_cpu),
    "limit-timeout": limited(["--timeout", "1s"], reason=("timeout",), status=124),
    "limit-daemon": daemon,
    "wreck-chmod": wreck,
    "wreck-chown": wreck,
    "wreck-overwrite": wreck,
    "wreck-remove": wreck,
}

# What a sandbox with a way out must keep from its guest as well.
GATED_TOO = {"net-loopback4", "net-loopback6", "net-datagram", "net-raw", "net-packet", "net-vsock", "net-alg", "net-families", "net-protocols",
             "net-netlink", "net-interfaces", "net-configure", "net-new-link", "net-filter", "net-ulp", "net-proc", "ipc-abstract",
             "ipc-abstract-list", "ns-setns-init", "ns-setns-self", "ns-setns-pidfd", "ns-own", "fs-inherited-fds"}

# A plain user cannot make such files, and there is no host root whose files could be misused.
NEEDS_HOST_ROOT = {"fs-setuid", "fs-filecap", "host-inodes"}

# What a promise stands on. A plain user may lack some of them; the report then says so, and the promise is not made.
GUARD_OF = {
    "fs-reopen-stdin": "id-range",
    "fs-system-write": "id-range",
    "fs-overlay-write": "idmap",
    "fs-setuid-own": "id-range",
    "fs-filecap-own": "id-range",
    "wreck-chown": "id-range",
    "limit-processes": "pids",
    "limit-threads": "pids",
    "limit-fork-bomb": "pids",
    "limit-memory": "memory",
    "limit-memory-tree": "memory",
    "limit-memory-memfd": "memory",
    "limit-memory-shm": "memory",
    "limit-memory-kernel": "memory",
    "limit-cpu-tree": "cpu",
    "limit-inotify": "id-range",
    "limit-signals": "id-range",
    "host-ranges": "id-range",
}


def of(name):
    """(variant, prepare) of an attempt."""
    entry = FIXTURES.get(name, plain)
    variants = dict(entry.items() if isinstance(entry, dict) else [("", entry)])
    if name in GATED_TOO:
        variants["gated"] = gated(variants[""], "egress")
    if name.startswith("gate-"):
        variants = {mode: gated(variants[""], mode) for mode in ("egress", "open")}
    return variants.items()
