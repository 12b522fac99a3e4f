"""gate: cove-gate as a program, between guests that are network namespaces made by hand and an internet of our own (internet.py).

    names = Names(internet, {"allowed.test": ["198.51.100.7"]})     the world's name server, at internet.DNS4
    gate = Gate(case, internet)               cove-gate --socket, in the namespace "host"
    control = gate.connect()                  what coved would say: control.ask({"do": "usage", …}), control.events
    guest = Guest(case)                       a gated network namespace with its sockets
    control.attach(guest, {"mode": "egress", "allow": […]})
    guest.connect("198.51.100.7", 443)        a socket of a program inside
    guest.lookup("allowed.test")              (code of the answer, addresses)
"""

import array
import contextlib
import itertools
import json
import os
import signal
import socket
import struct
import subprocess
import threading
from pathlib import Path

import covetest
import internet as net
from covetest import wait_for

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("COVE_GATE", str(ROOT / "build/bin/cove-gate"))
PATIENCE = 60.0 * float(os.environ.get("COVE_TEST_SLOW", "1"))
SEED = "5e" * 32
IP_TRANSPARENT, IPV6_TRANSPARENT, IP_RECVORIGDSTADDR, IPV6_RECVORIGDSTADDR = 19, 75, 20, 74
MESSAGE_MAX = 160 * 1024

_numbers = itertools.count()


class Guest:
    """A namespace as net-gated.c makes them, and a process that stands for its PID 1."""

    def __init__(self, case, id=None, gated=True):
        number = f"{os.getpid()}-{next(_numbers)}"
        self.id = id or f"guest-{number}"
        self.namespace = f"covetest-{number}-guest"
        net.ip("netns", "add", self.namespace)
        case.addCleanup(self.close)
        net.ip("-n", self.namespace, "link", "set", "lo", "up")
        if gated:
            self._capture()
        made = net.in_namespace(self.namespace, self._make_sockets)
        self.sockets = made if gated else made[1:2]  # a member of a group has names only
        for s in made:
            if s not in self.sockets:
                s.close()
        self.process = subprocess.Popen(["sleep", "1000"])
        self.pidfd = os.pidfd_open(self.process.pid)

    def _capture(self):
        net.ip("-n", self.namespace, "addr", "add", "10.64.0.2/32", "dev", "lo")
        net.ip("-n", self.namespace, "addr", "add", "fd64::2/128", "dev", "lo", "nodad")
        net.ip("-n", self.namespace, "route", "add", "local", "default", "dev", "lo", "src", "10.64.0.2", "table", "local")
        net.ip("-n", self.namespace, "-6", "route", "add", "local", "default", "dev", "lo", "src", "fd64::2", "table", "local")
        subprocess.run(["ip", "netns", "exec", self.namespace, "nft", "-f", str(ROOT / "policy/gated.nft")], check=True)

    @staticmethod
    def _make_sockets():
        made = []
        for kind, port, options in ((socket.SOCK_STREAM, 15001, ()),
                                    (socket.SOCK_DGRAM, 53, ((socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO),)),
                                    (socket.SOCK_DGRAM, 15001, ((socket.SOL_IP, IP_RECVORIGDSTADDR), (socket.IPPROTO_IPV6, IPV6_RECVORIGDSTADDR)))):
            s = socket.socket(socket.AF_INET6, kind)
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            for level, option in ((socket.SOL_IP, IP_TRANSPARENT), (socket.IPPROTO_IPV6, IPV6_TRANSPARENT), *options):
                s.setsockopt(level, option, 1)
            s.bind(("::", port))
            if kind == socket.SOCK_STREAM:
                s.listen(1024)
            made.append(s)
        return made

    def run(self, argv):
        """A program inside; its output as text."""
        return subprocess.run(["nsenter", f"--net=/run/netns/{self.namespace}", "--", *argv], capture_output=True, text=True, timeout=3 * PATIENCE)

    def make_flow(self, event):
        """As PID 1 makes it: a datagram socket that speaks in the name of the world's end."""
        remote, local = net.plain_address(event["remote"]), net.plain_address(event["local"])

        def make():
            s = socket.socket(socket.AF_INET6 if ":" in remote else socket.AF_INET, socket.SOCK_DGRAM)
            s.setsockopt(*((socket.IPPROTO_IPV6, IPV6_TRANSPARENT) if ":" in remote else (socket.SOL_IP, IP_TRANSPARENT)), 1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((remote, event["remotePort"]))
            s.connect((local, event["localPort"]))
            return s
        return net.in_namespace(self.namespace, make)

    def descriptors(self):
        return [*(s.fileno() for s in self.sockets), self.pidfd]

    def socket(self, family=socket.AF_INET, kind=socket.SOCK_STREAM):
        s = net.in_namespace(self.namespace, lambda: socket.socket(family, kind))
        s.settimeout(PATIENCE)
        return s

    def connect(self, address, port):
        s = self.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        s.connect((address, port))
        return s

    def lookup(self, name, kind=1, server="10.64.0.2"):
        s = self.socket(kind=socket.SOCK_DGRAM)
        with s:
            question = b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0" + struct.pack("!HH", kind, 1)
            s.connect((server, 53))
            s.send(struct.pack("!HHHHHH", 7, 0x0100, 1, 0, 0, 0) + question)
            return parse_answer(s.recv(4096), len(question))

    def end(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        for s in self.sockets:
            s.close()
        if self.process.poll() is None:
            self.end()
        os.close(self.pidfd)
        subprocess.run(["ip", "netns", "del", self.namespace], capture_output=True)


def parse_answer(data, question_size):
    """(code, addresses); answers are taken to be as we send them: names as pointers, or spelled out."""
    _, flags, _, n, _, _ = struct.unpack("!HHHHHH", data[:12])
    at, found = 12 + question_size, []
    for _ in range(n):
        while data[at] and data[at] < 0xc0:
            at += data[at] + 1
        at += 2 if data[at] >= 0xc0 else 1
        kind, _, _, size = struct.unpack("!HHIH", data[at:at + 10])
        at += 10
        if kind in (1, 28):
            found.append(socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, data[at:at + size]))
        at += size
    return flags & 15, found


class Names:
    """The world's name server: answers what it is told, from a thread."""

    def __init__(self, internet, table):
        self.table, self.ended = table, False
        self.sock = internet.socket(socket.SOCK_DGRAM, 53)
        self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        self.sock.settimeout(0.2)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        internet.servers.append(self)

    def run(self):
        while not self.ended:
            try:
                data, ancillary, _, peer = self.sock.recvmsg(4096, 256)
            except socket.timeout:
                continue
            except OSError:
                return
            try:
                self.sock.sendmsg([self.answer(data)], [a for a in ancillary if a[1] == socket.IPV6_PKTINFO], 0, peer)
            except OSError:
                pass

    def answer(self, data):
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode().lower())
            at += data[at] + 1
        kind, = struct.unpack("!H", data[at + 1:at + 3])
        question = data[12:at + 5]
        known = self.table.get(".".join(labels))
        family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
        found = [a for a in known or [] if family == (socket.AF_INET6 if ":" in a else socket.AF_INET)]
        records = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 30, len(raw)) + raw for raw in (socket.inet_pton(family, a) for a in found))
        return data[:2] + struct.pack("!HHHHH", 0x8180 | (0 if known is not None else 3), 1, len(found), 0, 0) + question + records

    def close(self):
        self.ended = True
        self.thread.join(5)
        self.sock.close()


class Control:
    """One connection, as coved has it. Answers and events come through a thread, which also makes sockets for flows and, where there is
    on_asked (event → bool, or None: no answer), answers what is asked."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.connect(path)
        self.events, self.answers, self.serial, self.changed, self.gone = [], [], 0, threading.Condition(), False
        self.guests, self.on_asked = {}, lambda event: None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data = self.sock.recv(MESSAGE_MAX)
            except OSError:
                data = b""
            with self.changed:
                if not data:
                    self.gone = True
                else:
                    message = json.loads(data)
                    (self.events if "event" in message else self.answers).append(message)
                self.changed.notify_all()
            if not data:
                return
            self.react(message)

    def react(self, message):
        guest = self.guests.get(message.get("id"))
        if message.get("event") == "flow" and guest:
            try:
                with guest.make_flow(message) as s:
                    self.say({"do": "flow", "token": message["token"], "error": 0}, [s.fileno()])
            except OSError as error:
                self.say({"do": "flow", "token": message["token"], "error": error.errno})
        elif message.get("event") == "asked":
            allow = self.on_asked(message)
            if allow is not None:
                self.say({"do": "answer", "ask": message["ask"], "allow": allow})

    def say(self, message, fds=()):
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.sock.sendmsg([raw], rights)

    def wait(self, look):
        with self.changed:
            self.changed.wait_for(lambda: look() or self.gone, PATIENCE)
            return look()

    def ask(self, message, fds=()):
        """The answer, or an AssertionError with what the gate said is wrong."""
        answer = self.try_ask(message, fds)
        if "failed" in answer:
            raise AssertionError(answer["error"])
        return answer

    def try_ask(self, message, fds=()):
        self.serial += 1
        serial = self.serial
        self.say({**message, "serial": serial}, fds)
        found = self.wait(lambda: next((a for a in self.answers if serial in (a.get("done"), a.get("failed"))), None))
        if not found:
            raise AssertionError(f"no answer to {message}; there were {self.answers}")
        return found

    def hello(self, **more):
        """Its own answer is waited for, not that of an earlier one: from then on the settings hold."""
        answered = sum("hello" in a for a in self.answers)
        self.say({"do": "hello", "version": 1, "dns": [f"{net.DNS4}:53"], "reachable": [], "seed": SEED, **more})
        return self.wait(lambda: next(itertools.islice((a for a in self.answers if "hello" in a), answered, None), None))

    def attach(self, guest, network, **more):
        self.guests[guest.id] = guest
        return self.ask({"do": "attach", "id": guest.id, "mode": network["mode"], "network": network, **more}, guest.descriptors())

    def policy(self, guest, network, **more):
        return self.ask({"do": "policy", "id": guest.id, "mode": network["mode"], "network": network, **more})

    def usage(self, guest):
        return self.ask({"do": "usage", "id": guest.id})["usage"]

    def event(self, kind, **fields):
        """The first such event, waited for; None when none comes."""
        return self.wait(lambda: next((e for e in self.events if e["event"] == kind and all(e.get(k) == v for k, v in fields.items())), None))

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)  # the thread that reads would keep it open
        except OSError:
            pass
        self.sock.close()


class Gate:
    def __init__(self, case, internet, options=(), prefix=()):
        self.directory, self.holding = covetest.make_temporary_directory("gate"), threading.Lock()
        self.path = str(Path(self.directory) / "gate.sock")
        environment = {**os.environ, "SSL_CERT_FILE": str(internet.ca_file), "ASAN_OPTIONS": "detect_leaks=0"}  # nobody may look into it
        self.process = subprocess.Popen([*internet.prefix, *prefix, PROGRAM, "--socket", self.path, *options], env=environment, stderr=subprocess.PIPE)
        case.addCleanup(self.close)
        wait_for(lambda: os.path.exists(self.path) or self.process.poll() is not None, PATIENCE)

    def connect(self, hello=True, **more):
        control = Control(self.path)
        if hello and not control.hello(**more):
            raise AssertionError("the gate does not say hello")
        return control

    def alive(self):
        return self.process.poll() is None

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @contextlib.contextmanager
    def held(self):
        """Stopped: whoever connects meanwhile has spoken before the gate looks. It judges who says nothing for a second by his address alone."""
        with self.holding:
            self.process.send_signal(signal.SIGSTOP)
            try:
                wait_for(lambda: Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T", PATIENCE, 0.001)
                yield
            finally:
                self.process.send_signal(signal.SIGCONT)

    def close(self):
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors = self.process.stderr.read().decode(errors="replace")
        self.process.stderr.close()
        covetest.remove_tree(self.directory)
        if self.process.returncode != 0:
            raise AssertionError(f"the gate ended with {self.process.returncode}: {self.errors[-4000:]}")
