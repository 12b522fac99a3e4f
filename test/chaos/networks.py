"""networks: the part of the storm that has a way out, and what must be true of it whatever was killed.

A world that answers on every address (internet.py) with the daemon in it. Each kind of network comes with a check that the sandbox has what it
may have. What nobody may have is looked at from the other side: nothing else may ever have arrived.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from daemon import wait_for  # noqa: E402
from internet import DNS4, Internet  # noqa: E402

ALLOWED, ASKED, API, OTHER = "198.51.100.7", "198.51.100.8", "198.51.100.9", "198.51.100.66"
SECRET, VALUE = "storm", "the-value-that-nobody-inside-knows"
PATIENCE = 60.0
SERVE = """exec python3 -c '
import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("", 700)); s.listen()
while True:
    c, _ = s.accept(); c.sendall(b"welcome\\n"); c.close()
'"""

KINDS = {
    "egress": {"network": {"mode": "egress", "allow": ["tcp://allowed.test:7"]}},
    "asking": {"network": {"mode": "egress", "allow": ["tcp://allowed.test:7"], "ask": ["tcp://asked.test:7"], "askTimeoutSeconds": 30}},
    "brokered": {"policy": {"network": {"mode": "egress", "allow": ["https://api.test"]},
                            "credentials": [{"secret": SECRET, "domain": "api.test", "env": "STORM"}]}},
    "isolated": {"network": {"mode": "isolated"}},
}


def fields_of(kind, group):
    if kind == "isolated":
        return {"network": {"mode": "isolated", "group": group}}
    return KINDS[kind]


def talk(host, port=7):
    """The script of a guest that wants to be answered."""
    return f"timeout 5 bash -c 'exec 3<>/dev/tcp/{host}/{port} && echo hello >&3 && read -r line <&3 && test -n \"$line\"' 2>/dev/null"


CALL = "curl -s -f -m 5 -o /dev/null -H \"Authorization: Bearer $STORM\" https://api.test/"
# By name, by number, and past the gate's own address: all of it must fail.
TRESPASS = f"! {talk('other.test')} && ! {talk(OTHER)} && ! curl -s -f -m 3 -o /dev/null http://{OTHER}/"
SCRIPTS = {"egress": talk("allowed.test"), "asking": talk("allowed.test"), "brokered": CALL}


class World:
    def __init__(self, case):
        self.internet = Internet(case)
        self.names = self.internet.names()
        for name, address in (("allowed.test", ALLOWED), ("asked.test", ASKED), ("api.test", API), ("other.test", OTHER)):
            self.names.set(name, address)
        self.echo, self.web = self.internet.tcp(7), self.internet.http(80)
        self.api = self.internet.https(443, ["api.test"])
        self.interfaces = self.links()

    def daemon_words(self):
        """For Daemon(): where it lives, and whom its gate believes."""
        return {"prefix": self.internet.prefix, "env": {"SSL_CERT_FILE": str(self.internet.ca_file)}}

    @staticmethod
    def config():
        return {"network": {"dns": [f"{DNS4}:53"]}}

    def links(self):
        return subprocess.run(["ip", "-n", self.internet.host, "-o", "link"], capture_output=True, text=True).stdout.count("\n")

    def trespasses(self):
        """What arrived and should not have, in words."""
        found = [f"TCP to {r['to']}" for r in self.echo.seen if r["to"][0] not in (ALLOWED, ASKED)]
        found += [f"HTTP to {r['to']}" for r in self.web.seen]
        found += [f"HTTPS to {r['to']}, {r['headers']}" for r in self.api.seen
                  if r["to"][0] != API or r["headers"].get("Authorization") != f"Bearer {VALUE}"]
        found += [f"asked for {name}" for name in {str(q) for q in self.names.seen} if "other.test" in name]
        if self.links() != self.interfaces:
            found.append(f"{self.links()} interfaces where the host lives, {self.interfaces} at first")
        return found


def check_open_ways(box, book):
    """In words what is wrong with the network of one that lives; nothing: all is as it must be."""
    wrong = []
    if book.kind in SCRIPTS:
        script = SCRIPTS[book.kind]
        if not wait_for(lambda: box.sh(script)["exitCode"] == 0, PATIENCE, 0.2):
            wrong.append(f"{book.name} ({book.kind}) does not reach what it may")
        if box.sh(TRESPASS)["exitCode"] != 0:
            wrong.append(f"{book.name} reaches what it may not")
    if book.kind == "asking" and book.approved and not wait_for(lambda: box.sh(talk("asked.test"))["exitCode"] == 0, PATIENCE, 0.2):
        wrong.append(f"{book.name}: what was approved for the sandbox is not any more")
    return wrong


def check_group(boxes):
    """Every member finds every other by its name."""
    wrong, running = [], []
    for box in boxes:
        running.append((box, box.begin(SERVE)))
    for one in boxes:
        for other in boxes:
            script = f"timeout 3 bash -c 'read -r line < /dev/tcp/{other.get()['name']}/700 && test \"$line\" = welcome' 2>/dev/null"
            if one is not other and not wait_for(lambda: one.sh(script)["exitCode"] == 0, PATIENCE, 0.2):
                wrong.append(f"{one.get()['name']} does not reach {other.get()['name']}")
    for box, eid in running:
        box.expect(200, "POST", f"exec/{eid}/signal", {"signal": "KILL"})
    return wrong
