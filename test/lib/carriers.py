"""Whether two who should be apart have an inode in common, and whether one of them can tell what the other does with it.

TELL lists the file systems that somebody's files are on. LOOK is what can be seen of others by locks and times. HOLD takes every lock it
can get, watches everything, tells when it has, and after /tmp/go what it has seen. All three are programs for Python, run inside or not."""

import json
import os
import subprocess
import sys

COMMON = r"""
import ctypes, fcntl, json, os, socket, struct, time
GETLK, SETLK = 36, 37  # F_OFD_GETLK, F_OFD_SETLK
READ, WRITE, NONE = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK
NAMED = ["/dev", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts/ptmx", "/dev/shm", "/", "/bin/sh", "/usr", "/usr/bin/env",
         "/usr/bin/sudo", "/usr/bin/python3", "/usr/lib/os-release", "/var/lib/dpkg", "/proc", "/proc/version", "/proc/kmsg", "/proc/keys", "/proc/acpi",
         "/proc/sys/kernel/random/boot_id", "/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/certs/ca-certificates.crt", "/etc/fonts",
         "/etc/resolv.conf", "/etc/passwd", "/etc/services", "/etc/skel", "/etc/apt/sources.list.d", "/proc/self/ns/net", "/proc/self/ns/mnt", "/proc/self/ns/time"]
libc = ctypes.CDLL(None, use_errno=True)

def opened(path):
    for how in (os.O_RDWR, os.O_RDONLY) if path.startswith("/dev/") else (os.O_RDONLY,):
        try:
            return os.open(path, how | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            pass
    return -1

def everything():
    "(name, descriptor) of what there is to be locked, descriptors without a path too"
    for path in NAMED:
        fd = opened(path)
        if fd >= 0:
            yield path, fd
    yield "eventfd", libc.eventfd(0, 0)
    yield "epoll", libc.epoll_create1(0)
    yield "timerfd", libc.timerfd_create(1, 0)
    yield "inotify", libc.inotify_init1(0)
    yield "pidfd", os.pidfd_open(os.getpid())
    yield "memfd", os.memfd_create("x")
    yield "pipe", os.pipe()[0]
    yield "socket", socket.socket(socket.AF_UNIX).detach()

def lock(fd, command, kind):
    try:
        return list(struct.unpack("hhqqi4x", fcntl.fcntl(fd, command, struct.pack("hhqqi4x", kind, 0, 0, 0, 0))))
    except OSError as error:
        return error.errno

def flock(fd, how):
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
        return 0
    except OSError as error:
        return error.errno
"""

TELL = COMMON + r"""
import subprocess
told = {"devices": {}, "links": {}}
find = ["find", "/", "(", "-path", "/proc", "-o", "-path", "/usr/*/*/*", ")", "-prune", "-o", "-printf", "%D %p\\0"]
for entry in subprocess.run(find, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode(errors="replace").split("\0"):
    device, _, path = entry.partition(" ")
    told["devices"].setdefault(device, path)
for line in open("/proc/self/mountinfo"):
    path = line.split()[4].encode().decode("unicode_escape")
    try:
        told["devices"].setdefault(str(os.lstat(path).st_dev), path)
    except OSError:
        pass
for directory in ("/proc/self/ns", "/proc/self/fd"):
    for name in os.listdir(directory):
        try:
            st = os.stat(f"{directory}/{name}")
            told["links"][f"{directory}/{name}"] = [st.st_dev, st.st_ino]
        except OSError:
            pass
told["devices"].pop("", None)
print("TOLD " + json.dumps(told), flush=True)
"""

LOOK = COMMON + r"""
def look(name, fd):
    st = os.fstat(fd)
    times = [st.st_atime_ns] if name.startswith("/") and not name.startswith(("/proc", "/dev/pts")) else []
    seen = [flock(fd, fcntl.LOCK_EX), flock(fd, fcntl.LOCK_SH), lock(fd, GETLK, WRITE), lock(fd, GETLK, READ), lock(fd, SETLK, READ), lock(fd, SETLK, WRITE), times]
    flock(fd, fcntl.LOCK_UN)
    lock(fd, SETLK, NONE)
    try:
        if name.startswith("/"):
            os.read(fd, 1)  # what a watch or an access time would show
    except OSError:
        pass
    os.close(fd)
    return seen

for again in range(2):  # the second time nothing is new to ourselves
    seen = {name: look(name, fd) for name, fd in everything()}
print("TOLD " + json.dumps(seen), flush=True)
"""

HOLD = COMMON + r"""
import signal
signals = []
signal.signal(signal.SIGIO, lambda *_: signals.append("a lease, or a directory"))
kept, watched, own = [], {}, libc.inotify_init1(os.O_NONBLOCK)
for name, fd in everything():
    kept.append(fd)
    flock(fd, fcntl.LOCK_SH)
    flock(fd, fcntl.LOCK_EX)
    lock(fd, SETLK, READ)
    lock(fd, SETLK, WRITE)
    for lease in (fcntl.F_RDLCK, fcntl.F_WRLCK):
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, lease)
        except OSError:
            pass
    try:
        fcntl.fcntl(fd, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)
    except OSError:
        pass
for name in NAMED + ["/proc/self/exe"]:
    watch = libc.inotify_add_watch(own, name.encode(), 0xfff)
    if watch >= 0 and not name.startswith("/proc/self/ns"):
        watched[watch] = name
print("held", flush=True)
while not os.path.exists("/tmp/go"):
    time.sleep(.02)
seen = list(signals)
try:
    data = os.read(own, 1 << 20)
except BlockingIOError:
    data = b""
while data:
    watch, mask, _, length = struct.unpack_from("iIII", data)
    seen.append(f"{watched.get(watch)}: {mask:#x}")
    data = data[16 + length:]
print("TOLD " + json.dumps({"seen": seen, "watched": len(watched), "held": len(kept)}), flush=True)
"""


def told(text):
    return json.loads(next(line for line in text.splitlines() if line.startswith("TOLD "))[5:])


def on_host(program):
    return told(subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True).stdout.decode())


def devices_of_host():
    found = {}
    for line in open("/proc/self/mountinfo", encoding="utf-8"):
        path = line.split()[4].encode().decode("unicode_escape")
        try:
            found.setdefault(str(os.lstat(path).st_dev), path)
        except OSError:
            pass
    return found


def shared(one, other):
    """What two have in common, by what TELL has told of them: pairs of places."""
    pairs = [(one["devices"][device], other["devices"][device]) for device in one["devices"] if device in other["devices"]]
    pairs += [(a, b) for a, x in one["links"].items() for b, y in other["links"].items() if x == y]
    return pairs


def differences(before, after, times=True):
    """Of two looks; times tell nothing where they are of two sandboxes."""
    def cut(seen):
        return seen if times else seen[:-1]
    return {name: (before[name], after[name]) for name in before if name in after and cut(before[name]) != cut(after[name])}


def only_times(found):
    """Nothing else differs: what differences() has found."""
    return all(before[:-1] == after[:-1] for before, after in found.values())
