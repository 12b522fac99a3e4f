"""spawner: a cove-spawner for a test, spoken to as coved does (src/wire/spawn.h, guest.h): what it does with requests is seen without
a daemon that would only ever send good ones."""

import os
import random
import select
import socket
import string
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import covetest  # noqa: E402

CREATE, DESTROY, FREEZE, THAW, TREE, PING = 1, 2, 3, 4, 6, 9
HELLO, CREATED, DONE, FAILED, END, TREE_ITEM, ROOM = 32, 33, 34, 35, 37, 38, 40
MAKE, PUBLISH, REMOVE, LIMIT, USAGE, LIST, VERIFY, RUN, CANCEL, SYNC, SWAP, TAKE, GROUP, SHRINK = range(1, 15)
LAYER, DISK, SNAPSHOT, VOLUME, SCRATCH, TEMPLATE = range(1, 7)
NO_DEPOT, PLAIN, BTRFS = 0, 1, 2
EXEC, NETWORK, SOCKET = 64, 73, 74
READY, STARTED, EXEC_FAILED, EXITED, SOCKETS, SOCKET_MADE = 96, 97, 98, 99, 103, 104
NONE, GATED, LINKED = 0, 1, 2
TCP, UDP = 1, 2
PATIENCE = 60.0


def text(value):
    return struct.pack("<H", len(value)) + value.encode()


def mapped(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    raw = socket.inet_pton(family, address)
    return raw if family == socket.AF_INET6 else bytes(10) + b"\xff\xff" + raw


def receive(channel, seconds=PATIENCE):
    """(data, descriptors); the caller closes them."""
    if not select.select([channel], [], [], seconds)[0]:
        raise TimeoutError("nobody answers")
    data, fds, _, _ = socket.recv_fds(channel, 65536, 16)
    return data, fds


def make_id():
    return random.choice(string.ascii_lowercase) + "".join(random.choices(string.ascii_lowercase + string.digits, k=20))


class Refused(Exception):
    def __init__(self, number, words):
        super().__init__(f"{os.strerror(number)}: {words}")
        self.errno, self.words = number, words


class Sandbox:
    def __init__(self, spawner, name, channel, pid, pidfd, uid):
        self.spawner, self.id, self.channel, self.pid, self.pidfd, self.uid = spawner, name, channel, pid, pidfd, uid
        self.next_exec = 1

    def say(self, kind, body=b"", fds=()):
        socket.send_fds(self.channel, [struct.pack("<HH", kind, 0) + body], list(fds))

    def hear(self, *kinds):
        while True:
            data, fds = receive(self.channel)
            kind = struct.unpack_from("<H", data)[0]
            if kind in kinds:
                return kind, data[4:], fds
            for fd in fds:
                os.close(fd)

    def sockets(self):
        """Its shape and descriptors."""
        self.say(NETWORK)
        _, body, fds = self.hear(SOCKETS)
        return body[0], fds

    def connect(self, port):
        """A socket to a port inside, or an errno."""
        self.say(SOCKET, struct.pack("<QB", 7, TCP) + bytes(32) + struct.pack("<HH", 0, port))
        return self._made()

    def flow(self, local, local_port, remote, remote_port):
        self.say(SOCKET, struct.pack("<QB", 7, UDP) + mapped(local) + mapped(remote) + struct.pack("<HH", local_port, remote_port))
        return self._made()

    def _made(self):
        _, body, fds = self.hear(SOCKET_MADE)
        token, error = struct.unpack("<QI", body)
        assert token == 7
        return socket.socket(fileno=fds[0]) if fds else error

    def start(self, argv, uid=None):
        """Begins a command; finish() has its end."""
        out = tempfile.TemporaryFile()
        uid = self.uid if uid is None else uid
        strings = b"".join(s.encode() + b"\0" for s in ["/", *argv, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
        body = struct.pack("<QIIIHHQQQIII", self.next_exec, 0, uid, uid, 0, 0, 60_000_000, 1 << 20, 1024, len(argv), 1, len(strings))
        fd = os.open(f"/proc/self/fd/{out.fileno()}", os.O_WRONLY | os.O_APPEND)
        self.say(EXEC, body + strings, [fd, fd])
        os.close(fd)
        self.next_exec += 1
        return out

    def finish(self, out):
        """(wait status, output)"""
        kind, body, _ = self.hear(EXITED, EXEC_FAILED)
        if kind == EXEC_FAILED:
            raise AssertionError(f"exec failed: {body}")
        out.seek(0)
        return struct.unpack_from("<i", body, 8)[0], out.read().decode()

    def run(self, *argv, uid=None):
        return self.finish(self.start(argv, uid))

    def shell(self, script, uid=None):
        return self.run("sh", "-c", script, uid=uid)

    def destroy(self):
        self.channel.close()
        os.close(self.pidfd)
        self.spawner.ask(DESTROY, text(self.id))


def tree_request(operation, refs=(), size=0, cancels=0, arguments=(), flags=0, group=(0, 0)):
    """refs: (kind, name) or (kind, name, writable). group: its number, and the bytes of all its members."""
    words = b"".join(word.encode() + b"\0" for word in arguments)
    return (struct.pack("<BBQIB", operation, flags, size, cancels, len(refs)) +
            b"".join(struct.pack("<BB", ref[0], ref[2] if len(ref) > 2 else 0) + text(ref[1]) for ref in refs) +
            struct.pack("<QQH", *group, len(words)) + words)


class Spawner:
    def __init__(self, prefix=(), options=(), program=None, instance=None):
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.run_dir = covetest.make_temporary_directory("spawner")
        os.chmod(self.run_dir, 0o755)
        self.instance = instance or "test" + make_id()[:8]
        program = program or covetest.cove_path().parent / "cove-spawner"
        self.process = subprocess.Popen([*prefix, str(program), "--channel", str(theirs.fileno()), "--instance", self.instance, *options],
                                        pass_fds=[theirs.fileno()])
        theirs.close()
        self.hello()

    room = (0, 0, 0)

    def receive(self, seconds=PATIENCE):
        """The next message that is not about the depot's size; that is kept: (bytes, used, most)."""
        while True:
            data, fds = receive(self.channel, seconds)
            if len(data) < 32 or struct.unpack_from("<H", data)[0] != ROOM:
                return data, fds
            self.room = struct.unpack_from("<QQQ", data, 8)

    def wait_room(self, good, seconds=PATIENCE):
        """Until what is told of the depot's size is as wanted. Nothing else must be under way."""
        end = time.monotonic() + seconds
        while not good(*self.room):
            self.ask(PING, b"")
            if time.monotonic() > end:
                raise TimeoutError(f"the depot is {self.room}")
            if select.select([self.channel], [], [], 0.1)[0]:
                data, _ = receive(self.channel)
                assert struct.unpack_from("<H", data)[0] == ROOM, data
                self.room = struct.unpack_from("<QQQ", data, 8)
        return self.room

    def hello(self, after=False):
        """Whoever speaks for the first time says who he is, and from where on what is asked of him is numbered. after: answers of one who died go before it."""
        data, _ = self.receive()
        while after and struct.unpack_from("<H", data)[0] != HELLO:
            data, _ = self.receive()
        kind, _, self.serial, self.privileged, _, self.depot, size = struct.unpack_from("<HHIBBBH", data)
        assert kind == HELLO and len(data) == 13 + size
        self.depot_reason = data[13:].decode()

    def ask(self, kind, body, fds=()):
        self.serial += 1
        socket.send_fds(self.channel, [struct.pack("<HHI", kind, 0, self.serial) + body], list(fds))
        while True:
            data, got = self.receive()
            kind, _, serial = struct.unpack_from("<HHI", data)
            if serial == self.serial:
                break
        if kind == FAILED:
            number, size = struct.unpack_from("<IH", data, 8)
            raise Refused(number, data[14:14 + size].decode())
        return data[8:], got

    def send(self, kind, body, fds=()):
        """Without waiting for the answer; gives the serial."""
        self.serial += 1
        socket.send_fds(self.channel, [struct.pack("<HHI", kind, 0, self.serial) + body], list(fds))
        return self.serial

    def answer(self, serial):
        """The next message with that serial: (kind, body)."""
        while True:
            data, got = self.receive()
            for fd in got:
                os.close(fd)
            kind, _, found = struct.unpack_from("<HHI", data)
            if found == serial:
                if kind == FAILED:
                    number, size = struct.unpack_from("<IH", data, 8)
                    raise Refused(number, data[14:14 + size].decode())
                return kind, data[8:]

    def tree(self, operation, *refs, fds=(), **kwargs):
        """(wait status, bytes)"""
        kind, body = self.answer(self.send(TREE, tree_request(operation, refs, **kwargs), fds))
        assert kind == DONE
        return struct.unpack("<iQ", body)

    def trees(self, kind):
        """name → bytes"""
        serial, found = self.send(TREE, tree_request(LIST, [(kind, "")])), {}
        while True:
            what, body = self.answer(serial)
            if what == END:
                return found
            assert what == TREE_ITEM and body[0] == kind
            size = struct.unpack_from("<H", body, 2)[0]
            found[body[4:4 + size].decode()] = struct.unpack_from("<Q", body, 4 + size)[0]

    def create(self, network=NONE, address=0, hub=None, uid=1000, template="host", fds=None, layer="", kept=False, volumes=(), name=None, sudo=False):
        name = name or make_id()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(str(self.run_dir / f"{name}.sock"))
        body = (text(name) + text(template) + text(layer) + bytes([False, kept]) + text("box") + text("/workspace") + struct.pack("<II?QQIIQ", uid, uid, sudo, 512 << 20, 256 << 20, 0, 128, 0) +
                struct.pack("<BI", network, address) +
                bytes([len(volumes)]) + b"".join(text(volume) + text(target) + bytes([writable]) for volume, target, writable in volumes) +
                struct.pack("<BQI", 0, 0, 0))
        with listener:
            data, got = self.ask(CREATE, body, [listener.fileno()] + ([hub] if hub is not None else []) + list(fds or []))
        box = Sandbox(self, name, socket.socket(fileno=got[0]), struct.unpack_from("<i", data)[0], got[1], uid)
        data, got = receive(box.channel)
        for fd in got:
            os.close(fd)
        if struct.unpack_from("<H", data)[0] != READY:
            box.channel.close()
            os.close(box.pidfd)
            raise AssertionError(f"it did not come up: {data}")
        return box

    def stop(self):
        self.channel.close()
        self.process.wait(PATIENCE)
        covetest.remove_tree(self.run_dir)
