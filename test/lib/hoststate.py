"""hoststate: what the host holds on behalf of sandboxes, as a comparable snapshot.

Counted: processes, mounts of PID 1's mount namespace, cgroups of every mounted hierarchy, network namespaces and
interfaces, loop devices with a backing file, System V objects, entries of the directories that cove might use.

A host is never still, so not every difference is a leak:
  1. Teardown takes a moment. A difference counts when it is in every sample until the time is over.
  2. A process counts when it descends from us (orphans do, since the runner is a subreaper), or, for a comparison
     made by another process, when it looks like ours: it runs one of our programs or lives in a namespace that did
     not exist before.
  3. In shared directories an entry counts when its name or its owner looks like ours.
Mounts and interfaces that vanished count too: a guest must not be able to take them away.
"""

import ctypes
import json
import os
import re
import time
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]

PF_KTHREAD = 0x00200000
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
DIRECTORIES = ("/tmp", "/var/tmp", "/run", "/dev/shm", "/run/lock", "/var/lib", "/run/user", "/dev/mqueue")
OWN_DIRECTORIES = ("/run/cove", "/var/lib/cove")
LOOP_SECONDS = 30.0
FIRST_SANDBOX_UID = 100000  # below are people and services

# A sandbox's id, a name made by mkdtemp(), a directory of this harness.
# Not that of a unit test, which may run beside us.
OUR_NAME = re.compile(r"(^|[^a-z0-9])[a-z][a-z0-9]{20}$|^\.?cove$|^\.?cove[-.](?!unit-).*[A-Za-z0-9]{6}$|^covetest-")

OUR_CGROUP = re.compile(r"/(cove|bareroot-)")  # every group that cove or bareroot makes is called so; a machine's others come and go
# The command of a run of tests, or of one suite.
OF_A_RUN = re.compile(r"^\S*(bash|python3)( -\S+)* (\S*/)?(script/test|test/(api|chaos|cli|compat|escape|fresh|guest|harness|inject|install|net|promises|provider|soak)/\S+)( |$)")
# Others' mounts, and the one that the first `ip netns add` after a boot makes for good.
FOREIGN_MOUNT = re.compile(r"^/(run/user|run/docker|run/credentials|var/lib/docker|var/lib/containerd)(/|$)|^/run/netns$")


def read(path):
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def entries(path):
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


class HostState:
    """processes maps "pid:start time" to facts; everything else is a sorted list of strings."""

    def __init__(self, **parts):
        self.processes = parts["processes"]
        self.things = parts["things"]
        self.namespaces = parts["namespaces"]

    @classmethod
    def take(cls):
        processes = read_processes()
        things = {
            "mount": read_mounts(),
            "cgroup": read_cgroups(),
            "netns": [name for name in entries("/run/netns") if not is_of_another_run(f"/run/netns/{name}")],
            "interface": entries("/sys/class/net"),
            "loop device": read_loops(),
            "System V object": read_sysv(),
            "directory entry": read_directories(),
        }
        namespaces = sorted({ns for facts in processes.values() for ns in facts["namespaces"]})
        return cls(processes=processes, things=things, namespaces=namespaces)

    def to_json(self):
        return json.dumps(vars(self), indent=1)

    @classmethod
    def from_json(cls, text):
        return cls(**json.loads(text))

    @staticmethod
    def diff(before, after=None, seconds=5.0):
        """What is there now and was not before, as readable lines. Waits for asynchronous teardown."""
        began = time.monotonic()
        after = after or HostState.take()
        left = differences(before, after)
        while left and time.monotonic() < began + (max(seconds, LOOP_SECONDS) if only_loops(left) else seconds):
            time.sleep(0.1)
            reap_orphans(known=())
            left &= differences(before, HostState.take())
        return sorted(left)


def only_loops(differences):
    """Nobody can tell whose a loop device is: another suite's goes soon, one that was left behind stays."""
    return all(item.startswith("loop device ") for item in differences)


def differences(before, after):
    found = {f"process {describe(key, after.processes[key])}"
             for key in after.processes.keys() - before.processes.keys()
             if is_ours(key, after.processes, before)}
    for kind, now in after.things.items():
        then = set(before.things[kind])
        found |= {f"{kind} {item}" for item in now
                  if item not in then and not (kind == "cgroup" and is_used_by_others(item, after.processes))
                  and not (kind == "loop device" and is_mounted_by_others(item, after.processes))}
    for kind in ("mount", "interface"):
        now = set(after.things[kind])
        found |= {f"{kind} gone: {item}" for item in before.things[kind] if item not in now}
    return found


# Processes

def read_processes():
    found = {}
    for name in entries("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        # comm may hold spaces and brackets; what follows the last ')' does not.
        _, _, rest = read(f"/proc/{name}/stat").decode(errors="replace").rpartition(")")
        fields = rest.split()
        if len(fields) < 20 or int(fields[6]) & PF_KTHREAD:
            continue
        found[f"{name}:{fields[19]}"] = {
            "pid": int(name),
            "state": fields[0],
            "parent": int(fields[1]),
            "comm": read(f"/proc/{name}/comm").decode(errors="replace").strip(),
            "command": read(f"/proc/{name}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()[:200],
            "program": link(f"/proc/{name}/exe"),
            "namespaces": [ns for ns in (link(f"/proc/{name}/ns/{kind}") for kind in NAMESPACES) if ns],
        }
    return found


def describe(key, facts):
    return f"{key.partition(':')[0]} ({facts['comm']}, state {facts['state']}): {facts['command'] or '-'}"


def is_ours(key, processes, before):
    facts = processes[key]
    if descends_from(facts, os.getpid(), processes):
        return True
    if is_subreaper() or is_of_another_tree(facts, processes):
        return False
    if facts["comm"].startswith("cove") or facts["program"].startswith(str(REPO / "build")):
        return True
    return any(ns not in before.namespaces for ns in facts["namespaces"])


def is_of_another_tree(facts, processes):
    """Below a script/test, or a suite, that we are not below ourselves: for whoever is no subreaper. What ours have left behind has lost its parents."""
    by_pid = {other["pid"]: other for other in processes.values()}
    ours, pid = set(), os.getpid()
    while pid and pid not in ours:
        ours.add(pid)
        pid = by_pid[pid]["parent"] if pid in by_pid else os.getppid() if pid == os.getpid() else 0
    seen = set()
    while facts and facts["pid"] not in seen and facts["pid"] not in ours:
        if OF_A_RUN.search(facts["command"]):
            return True
        seen.add(facts["pid"])
        facts = by_pid.get(facts["parent"])
    return False


def is_of_others(facts, processes):
    return not descends_from(facts, os.getpid(), processes) if is_subreaper() else is_of_another_tree(facts, processes)


def is_used_by_others(cgroup, processes):
    """Another one's live sandbox, when we know which processes are ours."""
    by_pid = {facts["pid"]: facts for facts in processes.values()}
    pids = [int(line) for line in read(f"{cgroup}/cgroup.procs").split()]
    return bool(pids) and all(is_of_others(by_pid[pid], processes) if pid in by_pid else is_subreaper() for pid in pids)


def is_mounted_by_others(loop, processes):
    """The disk of another one's live sandbox, likewise."""
    source = f"/dev/{loop.partition(' ')[0]}"
    holders = [facts for facts in processes.values()
               if any(mount["source"] == source for mount in mount_lines(f"/proc/{facts['pid']}/mountinfo"))]
    return bool(holders) and all(is_of_others(facts, processes) for facts in holders)


def descends_from(facts, ancestor, processes):
    by_pid = {other["pid"]: other for other in processes.values()}
    seen = set()
    while facts and facts["pid"] not in seen:
        if facts["parent"] == ancestor:
            return True
        seen.add(facts["pid"])
        facts = by_pid.get(facts["parent"])
    return False


def is_subreaper():
    PR_GET_CHILD_SUBREAPER = 37
    answer = ctypes.c_int(0)
    ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return answer.value != 0


def reap_orphans(known):
    """Collects dead children that nobody waits for: orphans which the kernel gave to us, the subreaper."""
    if not is_subreaper():
        return
    for facts in read_processes().values():
        if facts["state"] == "Z" and facts["parent"] == os.getpid() and facts["pid"] not in known:
            try:
                os.waitpid(facts["pid"], os.WNOHANG)
            except ChildProcessError:
                pass


# Network namespaces

def held_namespaces(pid):
    """inode → how the descriptors of the process keep that network namespace alive: by a "socket" made in it, or as the "namespace" itself."""
    SYS_PIDFD_GETFD, SIOCGSKNS = 438, 0x894C
    libc, found = ctypes.CDLL(None), {}
    pidfd = os.pidfd_open(pid)
    try:
        for name in entries(f"/proc/{pid}/fd"):
            what = link(f"/proc/{pid}/fd/{name}")
            inode, kind = None, "socket"
            if what.startswith("net:["):
                inode, kind = int(what[5:-1]), "namespace"
            elif what.startswith("socket:"):
                copy = libc.syscall(SYS_PIDFD_GETFD, pidfd, int(name), 0)
                namespace = libc.ioctl(copy, SIOCGSKNS) if copy >= 0 else -1
                inode = os.fstat(namespace).st_ino if namespace >= 0 else None
                for fd in (copy, namespace):
                    if fd >= 0:
                        os.close(fd)
            if inode:
                found.setdefault(inode, set()).add(kind)
    finally:
        os.close(pidfd)
    return found


def network_namespace(pid):
    """Its inode; None: it has gone."""
    what = link(f"/proc/{pid}/ns/net")
    return int(what[5:-1]) if what else None


# Things

def numbered(items):
    """A list in which the second of two equal items is different: stacked mounts are two."""
    count, out = {}, []
    for item in items:
        count[item] = count.get(item, 0) + 1
        out.append(item if count[item] == 1 else f"{item} #{count[item]}")
    return sorted(out)


def mount_lines(path):
    for line in read(path).decode(errors="replace").splitlines():
        left, _, right = line.partition(" - ")
        left, right = left.split(), right.split()
        if len(left) >= 6 and len(right) >= 2:
            yield {"root": left[3], "point": left[4], "type": right[0], "source": right[1], "options": right[-1]}


def read_mounts():
    path = "/proc/1/mountinfo" if read("/proc/1/mountinfo") else "/proc/self/mountinfo"
    return numbered(f"{m['point']} ({m['type']} {m['source']} {m['root']})" for m in mount_lines(path)
                    if not FOREIGN_MOUNT.search(m["point"]) and not is_of_another_run(m["point"]))


def is_of_another_run(path):
    """A network namespace that another suite has made for itself, or what it has mounted in a directory of its own."""
    found = re.match(r"(?:/run/netns|/tmp|/var/tmp)/cove(?:test|-bench)-(\d+)", path)
    return bool(found) and int(found[1]) != os.getpid()


def read_cgroups():
    found = []
    for mount in mount_lines("/proc/self/mountinfo"):
        if mount["type"] not in ("cgroup", "cgroup2"):
            continue
        for directory, below, _ in os.walk(mount["point"]):
            below[:] = [name for name in below if not is_of_a_living_root(name)]
            if OUR_CGROUP.search(directory):
                found.append(directory)
    return numbered(found)


def is_of_a_living_root(name):
    """The groups of a bare root (bareroot.py) that another suite has made: what is below them is that root's own matter."""
    found = re.match(r"bareroot-(\d+)-", name)
    return bool(found) and int(found[1]) != os.getpid() and os.path.exists(f"/proc/{found[1]}")


def is_of_a_living_run(backing):
    """A file in the directory of another suite that is at work."""
    found = re.search(r"/covetest-(\d+)-", backing)
    return bool(found) and int(found[1]) != os.getpid() and os.path.exists(f"/proc/{found[1]}")


def is_of_a_unit_test(backing):
    """Which may run beside us, and looks after its own."""
    return bool(re.match(r"/var/tmp/test-[a-z]+-[A-Za-z0-9]{6}/", backing))


def is_of_another_machine(backing):
    """Loop devices are the kernel's, for all: a file that we do not have, and that has not been removed, is one of another root directory."""
    return not backing.endswith(" (deleted)") and not os.path.exists(backing)


def read_loops():
    """A loop device can go between the listing and the reading: then it holds nothing."""
    held = {path.parts[3]: read(path).decode(errors="replace").strip()
            for path in Path("/sys/block").glob("loop*/loop/backing_file")}
    return sorted(f"{name} {backing}" for name, backing in held.items()
                  if backing and not (is_of_a_living_run(backing) or is_of_a_unit_test(backing) or is_of_another_machine(backing)))


def read_sysv():
    found = []
    for kind in ("shm", "msg", "sem"):
        for line in read(f"/proc/sysvipc/{kind}").decode().splitlines()[1:]:
            key, identifier = line.split()[:2]
            found.append(f"{kind} key {key} id {identifier}")
    return sorted(found)


def looks_like_ours(path):
    name = os.path.basename(path)
    harness = re.match(r"cove(?:test-(?=\d+-)|-bench-(?=\d+\.))(\d+)", name)
    if harness and int(harness[1]) != os.getpid() and os.path.exists(f"/proc/{harness[1]}"):
        return False  # another suite's, or a bench's, which is still running
    if OUR_NAME.search(name):
        return True
    try:
        return os.lstat(path).st_uid >= FIRST_SANDBOX_UID
    except OSError:
        return False


def read_directories():
    found = []
    for directory in DIRECTORIES:
        found += [path for path in (f"{directory}/{name}" for name in entries(directory)) if looks_like_ours(path)]
    for directory in OWN_DIRECTORIES:
        for parent, directories, files in os.walk(directory):
            found += [os.path.join(parent, name) for name in directories + files]
            if parent.count("/") > directory.count("/") + 1:
                directories.clear()
    return sorted(set(found))
