"""netcase: a daemon in a world of our own (internet.py), one for a whole suite, and programs inside that speak to the world.

    class Raw(netcase.Case):
        def test_…(self):
            box = self.egress("https://allowed.test")               what is allowed; further fields of the network by name
            reply = self.curl(box, "https://allowed.test/x")        .status, .json, .text, .rc; the file of the world's authority is used
            self.denied(box, "no_rule", host="other.test")          waits for the denial, which must say why and what to do
            self.cure(box, denial)                                  what the denial proposes is put into the policy
            self.world.web.seen                                     what arrived, since the test began

    netcase.main()
"""

import json
import re
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import covetest  # noqa: E402
import daemon  # noqa: E402
from covetest import wait_for  # noqa: E402
from internet import DNS4, Handler, Internet  # noqa: E402

SECONDS = 60 * daemon.SLOW
ALLOWED, OTHER, DENIED, ALLOWED6 = "198.51.100.7", "198.51.100.8", "198.51.100.66", "2001:db8:1::7"
NAMES = {"allowed.test": [ALLOWED], "shared.test": [ALLOWED], "other.test": [OTHER], "denied.test": [DENIED], "api.test": [ALLOWED],
         "echo.test": [OTHER], "six.test": [ALLOWED6]}
PYTHON = "/usr/bin/python3"

# Sends bytes to an address, says what comes back and how it ends: "eof", "reset", "silence", "refused".
TALK = r'''
import json, socket, ssl, sys
ask = json.loads(sys.argv[1])
got, end = b"", "eof"
try:
    s = socket.create_connection((ask["host"], ask["port"]), timeout=15)
    if ask.get("tls"):
        context = ssl._create_unverified_context()
        s = context.wrap_socket(s, server_hostname=ask.get("sni"))
    for part in ask["parts"]:
        s.sendall(part.encode("latin-1"))
    if ask.get("shut"): s.shutdown(socket.SHUT_WR)
    s.settimeout(ask.get("patience", 10))
    while part := s.recv(65536):
        got += part
        if ask.get("until") and ask["until"].encode("latin-1") in got: end = "found"; break
except socket.gaierror as error: end = "name"
except TimeoutError: end = "silence"
except ConnectionRefusedError: end = "refused"
except (ConnectionError, ssl.SSLError, OSError) as error: end = "reset"
print(json.dumps({"got": got.decode("latin-1"), "end": end}))
'''


class World:
    """The internet and the daemon of a suite."""

    def __init__(self):
        self.cleanups = []
        self.internet = Internet(self)
        self.names = self.internet.names()
        for name, addresses in NAMES.items():
            self.names.set(name, *addresses)
        self.web = self.internet.http(80, WorldHandler)
        self.tls = self.internet.https(443, list(NAMES), WorldHandler)
        try:
            self.coved = self._start_daemon()
        except BaseException:
            self.end()  # nobody else knows of it
            raise
        self.servers = [self.web, self.tls]

    def _start_daemon(self):
        coved = daemon.Daemon(prefix=self.internet.prefix, config={"network": {"dns": [f"{DNS4}:53"], "allowOpen": True,
                                                                               "caFile": str(self.internet.ca_file)}})
        daemon.Shared.daemons["world"] = coved.start()
        coved.api.create(network="egress").delete()
        coved.descriptors_before = coved.descriptors()
        return coved

    def keep(self, server):
        self.servers.append(server)
        return server

    def addCleanup(self, function, *args):
        self.cleanups.append((function, args))

    def forget(self):
        for server in self.servers:
            server.seen.clear()
            server.connections = 0
        self.names.seen.clear()

    def arrived(self):
        """What any server has seen of the test so far, also a mere connection."""
        return [record for server in self.servers for record in server.seen] + [f"{server.connections} connections to port "
                f"{server.server_port}" for server in self.servers if getattr(server, "connections", 0)]

    def end(self):
        for function, args in reversed(self.cleanups):
            function(*args)

    the = None

    @classmethod
    def get(cls):
        if not cls.the:
            cls.the = cls()
        return cls.the


class WorldHandler(Handler):
    """Also methods of a subclass called serve_<first part of the path>; connections to the world are by name or number."""

    def do_GET(self):
        special = getattr(self, "serve_" + re.sub(r"\W", "_", self.path.partition("?")[0].strip("/").partition("/")[0] or "root"), None)
        if special:
            special()
        else:
            super().do_GET()

    do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = do_OPTIONS = do_CONNECT = do_GET


class Curl:
    """How curl ended, inside."""

    def __init__(self, result):
        self.rc, self.stderr = result["exitCode"], result["stderr"]
        text, _, told = result["stdout"].rpartition("\n@@")
        self.text, words = text, told.split()
        self.status, self.version, self.connects, self.seconds = int(words[0]), words[1], int(words[2]), float(words[3])

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def error(self):
        return self.json["error"]

    def __str__(self):
        return f"curl ended with {self.rc}, status {self.status}: {self.stderr} {self.text[:1500]}"


class Case(daemon.Case):
    def setUp(self):
        super().setUp()
        self.world = World.get()
        self.world.forget()

    @property
    def daemon(self):
        return World.get().coved

    # Sandboxes

    def egress(self, *allow, policy=None, **network):
        """requireTls stays what it is by default."""
        fields = {"network": {"mode": "egress", "allow": list(allow), **network}} if policy is None else {"policy": policy}
        box = self.box(**fields)
        box.put("/tmp/world.pem", self.world.internet.ca_file.read_bytes())
        return box

    def curl(self, box, *words, ca="/tmp/world.pem", seconds=15):
        """ca None: as the environment of the sandbox says."""
        trust = ["--cacert", ca] if ca else []
        return Curl(box.exec(command="curl", timeout=seconds + 30, args=[
            "-sS", "-m", str(seconds), *trust, "-w", "\n@@%{http_code} %{http_version} %{num_connects} %{time_total}", *words]))

    def python(self, box, code, *args, ok=True, timeout=60, **fields):
        """stdout of a program inside."""
        result = box.exec(command=PYTHON, args=["-c", code, *map(str, args)], timeout=timeout, **fields)
        if ok:
            self.assertEqual(result["exitCode"], 0, f"{result['stderr'][-1500:]} {result['stdout'][-500:]}")
            return result["stdout"]
        return result

    def talk(self, box, host, port, *parts, **ask):
        """Bytes there and back: (what came, how it ended)."""
        texts = [part.decode("latin-1") if isinstance(part, bytes) else part for part in parts]
        told = json.loads(self.python(box, TALK, json.dumps({"host": host, "port": port, "parts": texts, **ask})))
        return told["got"], told["end"]

    def lookup(self, box, *words):
        """What dig says inside."""
        return box.exec(command="dig", args=["+time=8", "+tries=1", *words])["stdout"]

    # Denials

    def denials(self, box):
        return box.expect(200, "GET", "network/denials").json

    def denied(self, box, reason, again=None, **wanted):
        """The denial, once it is there. It says why, and what would help.

        again: tries once more. A client that has said nothing for a second is judged by its address alone, and then the reason is another one.
        """
        def look():
            return next((d for d in self.denials(box) if d["reason"] == reason and all(d[k] == v for k, v in wanted.items())), None)

        def look_again():
            return wait_for(look, 3) or again() and None
        found = wait_for(look_again if again else look, SECONDS)
        self.assertTrue(found, f"no denial with {reason} {wanted}: {json.dumps(self.denials(box), indent=1)}")
        self.assertIn("denied", found["text"])
        self.assertTrue(found["cure"], found)
        return found

    def cure(self, box, denial):
        """Does what a denial says: its JSON is laid over the policy."""
        begin = denial["cure"].find('{"network"')
        self.assertGreaterEqual(begin, 0, f"no policy in the cure: {denial}")
        proposed = json.JSONDecoder().raw_decode(denial["cure"][begin:])[0]["network"]
        network = box.expect(200, "GET", "policy").json["network"]
        self.change(box, **{**proposed, "allow": network["allow"] + proposed.get("allow", [])})

    def change(self, box, **network):
        """Parts of the network's policy become others."""
        now = box.expect(200, "GET", "policy").json
        return box.expect(200, "PUT", "policy", {**{k: v for k, v in now.items() if k == "credentials" and v},
                                                 "network": {**now["network"], **network}}).json

    def check_refused(self, reply, reason, status=403):
        """The answer in the gate's own words."""
        self.assertEqual(reply.status, status, str(reply))
        error = reply.error
        self.assertEqual((error["code"], error["reason"]), ("egress_denied", reason), str(reply))
        self.assertTrue(error["message"] and error["allow"], str(reply))
        return error

    def nothing_arrived(self, *servers):
        self.assertEqual(self.world.arrived(), [], "something got out")

    def soon(self, function, message="it did not happen"):
        found = wait_for(function, SECONDS)
        self.assertTrue(found, message() if callable(message) else message)
        return found


class End(daemon.EndCheck):
    def runTest(self):
        daemon.Shared.end(self)
        if World.the:
            World.the.end()
        super().runTest()


def main():
    daemon.EndCheck = End
    daemon.main()
