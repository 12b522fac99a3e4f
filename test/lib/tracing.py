"""tracing: ptrace(2) on x86_64, and an Injector, which lets single system calls of running processes fail.

    with Injector({"coved": pid}) as injector:
        injector.count()                    # from now on
        …
        calls = injector.counts()           # {("coved", "openat"): 12, …}
        injector.fail("coved", "openat", 3, errno.EMFILE)   # the third from now on
        …
        hit = injector.relax()              # whether it came to that

A call that fails with KILL is the caller's last: it is killed -9 before it is made. A recvmsg that fails with CUT has
its descriptors cut off by the kernel, as for one who may have no more. fcntl and
epoll_ctl count where they need something. The tracer is a process of its own: whoever traces waits for nothing else.
"""

import ast
import collections
import contextlib
import ctypes
import errno
import os
import re
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path

PTRACE_PEEKDATA, PTRACE_POKEDATA, PTRACE_POKEUSER, PTRACE_CONT, PTRACE_SYSCALL = 2, 5, 6, 7, 24
PTRACE_GETEVENTMSG, PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_GET_SYSCALL_INFO = 0x4201, 0x4206, 0x4207, 0x420E
PTRACE_OPTIONS = 1 | 2 | 4 | 8 | 16 | 0x100000  # sysgood, fork, vfork, clone, exec, exitkill
EVENT_FORK, EVENT_VFORK, EVENT_CLONE, EVENT_EXEC, EVENT_STOP = 1, 2, 3, 4, 128
ENTRY, EXIT = 1, 2
ORIG_RAX, RAX = 15 * 8, 10 * 8  # in struct user
WALL = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def call_names():
    for path in ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"):
        if os.path.exists(path):
            found = re.findall(r"#define __NR_(\w+) (\d+)", Path(path).read_text())
            return {int(number): name for name, number in found}
    return {}


NAMES = call_names()


def ptrace(request, pid, address=0, data=0):
    ctypes.set_errno(0)
    answer = libc.ptrace(request, pid, address, data)
    if answer == -1 and ctypes.get_errno() not in (0, errno.ESRCH):
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x} of {pid}")
    return answer


KILL = 9998  # no errno either
CUT = 9999  # no errno: the message comes, its descriptors do not
CAN_FAIL = {"fcntl": (0, 1030), "epoll_ctl": (1,)}  # F_DUPFD, F_DUPFD_CLOEXEC; EPOLL_CTL_ADD
GETPID = 39
CONTROL_LENGTH = 40  # msg_controllen in struct msghdr


class _Tracee:
    def __init__(self, name, pid):
        self.name, self.pid = name, pid
        self.error = 0  # injected into the call in progress


class _Tracer:
    """The tracer's side. Commands come by lines on stdin, which a thread reads; ptrace is the main thread's alone."""

    def __init__(self, targets):
        self.tracees = {pid: _Tracee(name, pid) for name, pid in targets}
        self.counts = collections.Counter()
        self.armed = None  # (name, call, number, error)
        self.hit = False

    def run(self):
        for tracee in self.tracees.values():
            ptrace(PTRACE_SEIZE, tracee.pid, 0, 1)  # sysgood: children are not ours
            ptrace(PTRACE_INTERRUPT, tracee.pid)
        threading.Thread(target=self.listen, daemon=True).start()
        while self.tracees:
            try:
                pid, status = os.waitpid(-1, WALL)
            except ChildProcessError:
                break
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                self.tracees.pop(pid, None)
                continue
            tracee = self.tracees.get(pid)
            if not tracee:
                continue
            number, deliver = os.WSTOPSIG(status), 0
            if number == 0x85:  # SIGTRAP | 0x80
                self.on_call(tracee)
            elif status >> 16 == 0:
                deliver = number
            ptrace(PTRACE_SYSCALL, pid, 0, deliver)
        os._exit(0)

    def listen(self):
        for line in sys.stdin:
            word, *rest = line.split()
            if word == "count":
                self.counts = collections.Counter()
            elif word == "fail":
                self.hit, self.counts = False, collections.Counter()
                self.armed = (rest[0], rest[1], int(rest[2]), int(rest[3]))
            elif word == "relax":
                self.armed = None
            answer = {f"{name} {call}": n for (name, call), n in self.counts.items()} if word == "counts" else self.hit
            print(repr(answer), flush=True)
        os._exit(0)  # the tracees go on without us

    def on_call(self, tracee):
        info = ctypes.create_string_buffer(88)
        if ptrace(PTRACE_GET_SYSCALL_INFO, tracee.pid, 88, ctypes.addressof(info)) <= 0:
            return
        if info.raw[0] == EXIT:
            self.on_exit(tracee)
        if info.raw[0] != ENTRY:
            return
        number, *args = struct.unpack_from("<7Q", info.raw, 24)
        call = NAMES.get(number, f"call-{number}")
        if args[1] not in CAN_FAIL.get(call, (args[1],)):
            return
        self.counts[tracee.name, call] += 1
        armed = self.armed
        if not armed or armed[:2] != (tracee.name, call) or self.hit or self.counts[tracee.name, call] < armed[2]:
            return
        self.hit, tracee.error = True, armed[3]
        if tracee.error == KILL:
            os.kill(tracee.pid, signal.SIGKILL)
        elif tracee.error == CUT:
            ptrace(PTRACE_POKEDATA, tracee.pid, args[1] + CONTROL_LENGTH, 0)
        else:
            ptrace(PTRACE_POKEUSER, tracee.pid, ORIG_RAX, GETPID)  # not -1: a seccomp filter would see it

    @staticmethod
    def on_exit(tracee):
        if tracee.error not in (0, CUT, KILL):
            ptrace(PTRACE_POKEUSER, tracee.pid, RAX, -tracee.error & (1 << 64) - 1)
        tracee.error = 0


class Injector:
    def __init__(self, targets):
        self.child = subprocess.Popen([sys.executable, __file__, *(f"{name}={pid}" for name, pid in targets.items())],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.count()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.close()
        self.child.stdout.close()
        self.child.wait()

    def _ask(self, *words):
        """None: the tracer has ended, with the last of those whom it traced."""
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.write(" ".join(map(str, words)) + "\n")
            self.child.stdin.flush()
        line = self.child.stdout.readline()
        return ast.literal_eval(line) if line else None

    def count(self):
        self._ask("count")

    def counts(self):
        return {tuple(key.split()): n for key, n in self._ask("counts").items()}

    def fail(self, name, call, number, error):
        self._ask("fail", name, call, number, error)

    def relax(self):
        return self._ask("relax")


if __name__ == "__main__":
    _Tracer([(name, int(pid)) for name, _, pid in (word.partition("=") for word in sys.argv[1:])]).run()
