"""gatebox: cove-gate alone, with the test in the place of coved and of PID 1.

    world = Internet(case)
    gate = Gate(case, world.prefix, dns=["203.0.113.53"])       a gate in the namespace "host" of that internet
    guest = gate.attach({"mode": "egress", "allow": ["allowed.test"]})      a gated namespace as net-gated.c makes it, attached
    guest.run(["dig", "@1.1.1.1", "allowed.test"])
    gate.events                                                 what it told; gate.wait_event(kind, **fields)
    group = gate.attach_linked({"db": "10.213.0.3"})            isolated: a DNS socket only

"flow" events are answered as coved does: a UDP socket is made inside. What `asked` is answered by gate.on_ask(event) → bool or None.
"""

import array
import itertools
import json
import os
import socket
import subprocess
import threading
import time

import covetest
from internet import in_namespace, ip, plain_address

IP_TRANSPARENT, IP_RECVORIGDSTADDR, IPV6_RECVORIGDSTADDR, IPV6_TRANSPARENT = 19, 20, 74, 75
GATE_PORT = 15001
_numbers = itertools.count()


def gate_path():
    return os.environ.get("COVE_GATE", str(covetest.REPO / "build/bin/cove-gate"))


def make_socket(kind, port, *options, address="::"):
    s = socket.socket(socket.AF_INET6, kind)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.setsockopt(socket.SOL_IP, IP_TRANSPARENT, 1)
    s.setsockopt(socket.IPPROTO_IPV6, IPV6_TRANSPARENT, 1)
    for level, name in options:
        s.setsockopt(level, name, 1)
    s.bind((address, port))
    if kind == socket.SOCK_STREAM:
        s.listen(128)
    s.setblocking(False)
    return s


def make_names_socket():
    return make_socket(socket.SOCK_DGRAM, 53, (socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO))


def make_gate_sockets():
    return [make_socket(socket.SOCK_STREAM, GATE_PORT), make_names_socket(),
            make_socket(socket.SOCK_DGRAM, GATE_PORT, (socket.SOL_IP, IP_RECVORIGDSTADDR), (socket.IPPROTO_IPV6, IPV6_RECVORIGDSTADDR))]


class Guest:
    """A network namespace, and a process that is its PID 1 as far as the gate can see."""

    def __init__(self, gate, gated):
        self.gate, self.id = gate, f"guest-{next(_numbers)}"
        self.name = f"covetest-{os.getpid()}-{self.id}"
        ip("netns", "add", self.name)
        ip("-n", self.name, "link", "set", "lo", "up")
        if gated:
            self._capture()
        self.first = subprocess.Popen(["nsenter", f"--net=/run/netns/{self.name}", "--", "sleep", "600"])
        self.pidfd = os.pidfd_open(self.first.pid)
        self.sockets = in_namespace(self.name, make_gate_sockets if gated else lambda: [make_names_socket()])

    def _capture(self):
        for family, own in (("-4", "10.64.0.2/32"), ("-6", "fd64::2/128")):
            ip("-n", self.name, family, "addr", "add", own, "dev", "lo", *(["nodad"] if family == "-6" else []))
            ip("-n", self.name, family, "route", "add", "local", "default", "dev", "lo", "src", own.partition("/")[0], "table", "local")
        self.run(["nft", "-f", str(covetest.REPO / "policy/gated.nft")], check=True)

    @property
    def fds(self):
        return [s.fileno() for s in self.sockets] + [self.pidfd]

    def run(self, argv, **kwargs):
        kwargs = {"capture_output": True, "text": True, "timeout": 60, **kwargs}
        return subprocess.run(["nsenter", f"--net=/run/netns/{self.name}", "--", *argv], **kwargs)

    def socket(self, family=socket.AF_INET, kind=socket.SOCK_DGRAM):
        s = in_namespace(self.name, lambda: socket.socket(family, kind))
        s.settimeout(10)
        return s

    def end(self):
        """As a sandbox ends."""
        self.first.kill()
        self.first.wait()

    def close(self):
        self.end()
        for s in self.sockets:
            s.close()
        os.close(self.pidfd)
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True)


class Gate:
    def __init__(self, case, prefix, dns, reachable=()):
        self.case, self.events, self.answers, self.serial = case, [], {}, itertools.count(1)
        self.on_ask, self.guests, self.changed = lambda event: None, [], threading.Condition()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        case.addCleanup(self.close)
        with theirs:
            self.process = subprocess.Popen([*prefix, gate_path(), "--fd", str(theirs.fileno())], pass_fds=[theirs.fileno()])
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.hello(dns, reachable)

    def hello(self, dns, reachable=()):
        self.send({"do": "hello", "version": 1, "dns": list(dns), "reachable": list(reachable), "seed": "11" * 32})
        self._wait(lambda: self.answers.pop("hello", None), "hello")

    def send(self, message, fds=()):
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.control.sendmsg([json.dumps(message).encode()], ancillary)

    def call(self, verb, fds=(), **fields):
        serial = next(self.serial)
        self.send({"do": verb, "serial": serial, **fields}, fds)
        answer = self._wait(lambda: self.answers.pop(serial, None), verb)
        if "failed" in answer:
            raise AssertionError(f"{verb}: {answer}")
        return answer

    def attach(self, network, **fields):
        guest = Guest(self, gated=True)
        self.guests.append(guest)
        self.call("attach", guest.fds, id=guest.id, mode=network["mode"], network=network, **fields)
        return guest

    def attach_linked(self, names):
        guest = Guest(self, gated=False)
        self.guests.append(guest)
        self.call("attach", guest.fds, id=guest.id, mode="isolated", network={"mode": "isolated"}, names=names)
        return guest

    def policy(self, guest, network):
        self.call("policy", id=guest.id, mode=network["mode"], network=network)

    def usage(self, guest):
        return self.call("usage", id=guest.id)["usage"]

    def told(self, kind, **fields):
        return [e for e in list(self.events) if e.get("event") == kind and all(e.get(k) == v for k, v in fields.items())]

    def wait_event(self, kind, **fields):
        return self._wait(lambda: next(iter(self.told(kind, **fields)), None), f"{kind} {fields} in {self.events}")

    def alive(self):
        return self.process.poll() is None

    def _wait(self, function, what, seconds=20):
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                result = function()
                if result is not None:
                    return result
                left = deadline - time.monotonic()
                if left <= 0 or not self.reader.is_alive():
                    raise AssertionError(f"the gate did not say {what}")
                self.changed.wait(min(left, 0.5))

    def _read(self):
        while True:
            try:
                data = self.control.recv(1 << 20)
            except OSError:
                return
            if not data:
                return
            message = json.loads(data)
            if message.get("event") == "flow":
                self._make_flow(message)
            with self.changed:
                if "event" in message:
                    self.events.append(message)
                else:
                    self.answers[message.get("done", message.get("failed", "hello" if "hello" in message else None))] = message
                self.changed.notify_all()
            if message.get("event") == "asked":
                threading.Thread(target=self._answer, args=(message,), daemon=True).start()

    def _answer(self, event):
        allow = self.on_ask(event)
        if allow is not None:
            self.send({"do": "answer", "ask": event["ask"], "allow": allow})

    def _make_flow(self, event):
        guest = next(g for g in self.guests if g.id == event["id"])
        four = "." in event["remote"]

        def make():
            s = socket.socket(socket.AF_INET if four else socket.AF_INET6, socket.SOCK_DGRAM)
            s.setsockopt(*((socket.SOL_IP, IP_TRANSPARENT) if four else (socket.IPPROTO_IPV6, IPV6_TRANSPARENT)), 1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((plain_address(event["remote"]), event["remotePort"]))
            s.connect((plain_address(event["local"]), event["localPort"]))
            return s
        try:
            with in_namespace(guest.name, make) as s:
                self.send({"do": "flow", "token": event["token"], "error": 0}, [s.fileno()])
        except OSError as error:
            self.send({"do": "flow", "token": event["token"], "error": error.errno})

    def close(self):
        self.control.shutdown(socket.SHUT_RDWR)
        for guest in self.guests:
            guest.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(5)
        self.control.close()
