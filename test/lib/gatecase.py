"""gatecase: tests of cove-gate that share one internet, one name server and one gate; each test has guests of its own.

    class Names(gatecase.Case):
        def test_…(self):
            guest = self.attach({"mode": "egress", "allow": ["allowed.test"]})
            self.names.set("allowed.test", "93.184.216.34")          dnsserver.py
            self.event("denied", host="denied.test")
    gatecase.main()

Before each test the gate forgets what it knows of names, and the name server what it was told. After the last one all of it ends.
"""

import contextlib
import os
import socket

import covetest
import dnsserver
from gate import Gate, Guest
from internet import Internet


class World:
    made = None

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup = self.stack.callback
        self.internet = Internet(self)
        self.names = dnsserver.DnsServer(self.internet.socket(socket.SOCK_DGRAM, 53), self.internet.socket(socket.SOCK_STREAM, 53))
        self.addCleanup(self.names.close)
        self.gate = Gate(self, self.internet)
        self.control = self.gate.connect()
        self.addCleanup(self.control.close)

    @classmethod
    def get(cls):
        cls.made = cls.made or cls()
        return cls.made

    @classmethod
    def end(cls):
        """What the gate had to say; "" when all was well."""
        if not cls.made:
            return ""
        gate = cls.made.gate
        cls.made.stack.close()
        cls.made = None
        return gate.errors if gate.process.returncode == 0 else f"ended with {gate.process.returncode}: {gate.errors}"


class Case(covetest.TestCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            covetest.skip("network namespaces are made by root", "run it as root")
        world = World.get()
        self.world, self.names, self.gate, self.control = world.internet, world.names, world.gate, world.control
        self.names.reset()
        self.control.on_asked = lambda event: None
        self.control.hello()
        self.control.events.clear()

    def tearDown(self):
        self.assertTrue(self.gate.alive(), "the gate has ended")
        super().tearDown()

    def attach(self, network, **more):
        guest = Guest(self, gated=network["mode"] != "isolated")
        self.control.attach(guest, network, **more)
        return guest

    def event(self, kind, **fields):
        event = self.control.event(kind, **fields)
        self.assertIsNotNone(event, f"no {kind} with {fields} in {self.control.events}")
        return event

    def told(self, kind, **fields):
        return [e for e in list(self.control.events) if e["event"] == kind and all(e.get(k) == v for k, v in fields.items())]


class EndCheck(covetest.LeakCheck):
    title = "end of the gate and leak check"

    def runTest(self):
        self.assertEqual(World.end(), "")
        super().runTest()


def main(**kwargs):
    covetest.LeakCheck = EndCheck
    covetest.main(**kwargs)
