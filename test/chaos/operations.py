"""operations: every route of the native surface that changes something, as one table: how to come before it, and how to see that it was done.

    @operation("POST /api/volumes", 201, again=(409,))
    def make_volume(w):
        name = w.fresh("v")
        return Prepared(lambda: w.there(f"/api/volumes/{name}"), {"name": name, "sizeMB": 8})

The function brings the world `w` to where the call can be made. What it gives looks at the API and says whether the call was done: True or False,
wholly or not at all; half of it raises. It must be False before. `again` are the answers of a call that was done already, beside the good ones.
A route that has nothing to lose is in HARMLESS, with the reason. This file knows nothing of who is killed, or of what is full.
"""

import hashlib
import http.client
import os
import sqlite3
import threading

import registry
import templates
from daemon import LIVE, STUCK, Box, Broken, wait_for

LIMITS = {"memoryMB": 64, "diskMB": 16}
ENDED = ("completed", "failed", "dead", "cancelled")
TAR = {"Content-Type": "application/x-tar"}
LEAK = "sandbox_leak_detected"
ASIDE = {"198.51.100.7:7": "tcp://198.51.100.7:7", "198.51.100.8:7": "tcp://198.51.100.8:7"}  # nobody is there, and nobody goes there
CONFIG = {"storage": {"size": "256M"}, "images": {"maxSize": "1G", "keepCacheFor": "0s"}, "limits": {"diskReserve": 0, "maxSandboxes": 400},
          "profiles": {"STORM": {"memory": "64MB", "storage": "16MB"}}, "agents": {"backoff": "100ms", "maxAttempts": 3},
          "pools": [{"profile": "STORM", "minSize": 1, "maxSize": 2}], "alerts": {"preset": "monotask", "interval": "100ms", "rules": {LEAK: {"enabled": True, "threshold": 0}}}}

HARMLESS = {
    "POST /api/policy/check": "computes an answer, and keeps nothing",
    "POST /api/alerts/test": "sends one message, and keeps nothing",
    "POST /api/config/reload": "reads the file as the next start does, and writes nothing",
    "POST /api/snapshots/{snapshot}/verify": "reads only; what it finds is the answer",
    "POST /api/depot/shrink": "has no record: the size is the image's own; test/api/depot kills whoever resizes it, in the middle",
}

TABLE = []


class Operation:
    """begun: the good answer says that it was begun, and a death may still end it. alone: it is about all that there is.
    rows: it is done when a row has changed. ends: an end, which is not kept from anybody: it may be done though it cannot be written down."""

    def __init__(self, route, prepare, good, again, begun, alone, rows, ends):
        self.route, self.prepare, self.good, self.again, self.begun, self.alone = route, prepare, good, again, begun, alone
        self.rows, self.ends = rows or ends, ends
        self.name = prepare.__name__


def operation(route, *good, again=(), begun=False, alone=False, rows=False, ends=False):
    def enter(function):
        TABLE.append(Operation(route, function, good or (200,), tuple(again), begun, alone, rows, ends))
        return function
    return enter


class Prepared:
    """A call that can be made, more than once, and how to see whether it was."""

    def __init__(self, done, body=None, query=None, headers=None, **parts):
        self.done, self.body, self.query, self.headers, self.parts = done, body, query, headers, parts

    def make(self, api, route, timeout):
        method, path = route.split(" ")
        body = {} if self.body is None and method == "POST" else self.body
        return api.call(method, path.format(**self.parts), body, query=self.query, headers=self.headers, timeout=timeout)


class World:
    """A daemon, and what most calls need."""

    def __init__(self, own, test):
        self.own, self.api, self.count = own, own.api, 0
        image = templates.image(registry.tar({"own": os.urandom(100000)}), User="root", WorkingDir="/")
        self.source, self.target = registry.Fake(test, image), registry.Registry(test)
        self.archive = registry.tar(registry.layout(templates.image(registry.tar({"other": os.urandom(100000)}), User="root")))
        self.make_template("small")

    def fresh(self, word):
        self.count += 1
        return f"{word}-{self.count}"

    def box(self, **fields):
        return self.api.create(limits=LIMITS, **fields)

    def kept(self):
        """With something on its disk."""
        box = self.box(persistent=True)
        box.out("echo kept > f; sync f")
        return box

    def there(self, path):
        return self.api.expect((200, 404), "GET", path).status == 200

    def status(self, box):
        """Where it stands in the end."""
        wait_for(lambda: box.get()["status"] not in STUCK)
        return box.get()["status"]

    def lives(self, name, script="true", wanted=""):
        """Whether there is a sandbox of this name; one that is, works."""
        reply = self.api.expect((200, 404), "GET", f"/api/sandbox/{name}")
        if reply.status == 404 or self.status(Box(self.api, reply.json)) not in LIVE:
            return False
        found = Box(self.api, reply.json).out(script)
        if found != wanted:
            raise AssertionError(f"{name} is there, and has {found!r} instead of {wanted!r}")
        return True

    def reads(self, box, path):
        reply = box.expect((200, 404), "GET", "files", query={"path": path})
        return reply.body if reply.status == 200 else None

    def made(self, name):
        """Nothing is being made of this template, or into it."""
        return wait_for(lambda: not [m for m in self.api.get("/api/makings", query={"status": "running"}) if m["template"] == f"{name}:latest"], 60, 0.02)

    def make_template(self, name):
        making = self.api.expect(202, "POST", "/api/templates/import", self.archive, query={"name": name}).json
        self.made(name)
        if not self.there(f"/api/templates/{name}"):
            raise AssertionError(f"no template {name}: {self.api.get('/api/makings/' + making['id'])}")
        return name

    def template(self, name, script="cat /old", wanted="old"):
        """Whether it is there when nothing is being made any more; one that is, can be used."""
        self.made(name)
        if not self.there(f"/api/templates/{name}"):
            return False
        return self.usable(name, script, wanted)

    def usable(self, name, script, wanted):
        box = self.box(template=name)
        found = box.out(script)
        box.delete()
        if found != wanted:
            raise AssertionError(f"template {name} has {found!r}")
        return True

    def agent(self, script, **fields):
        """An execution that has begun, in its first sandbox."""
        body = {"taskId": self.fresh("task"), "agentType": "STORM", "async": True, "command": ["sh", "-c", script], **fields}
        return self.api.expect(202, "POST", "/api/agents/execute", body).json["id"]

    def execution(self, run):
        return self.api.get(f"/api/agents/executions/{run}")

    def ended(self, run):
        wait_for(lambda: self.execution(run)["status"] in ENDED)
        return self.execution(run)["status"]

    def begin(self, box, script, mark="begun", **fields):
        """A command that has said so."""
        eid = box.begin(f"echo {mark}; {script}", timeoutSeconds=3000, **fields)
        wait_for(lambda: mark.encode() in box.output(eid))
        return eid

    def forget(self, box):
        """Its record is lost while nobody looks: its disk is in quarantine then."""
        box.expect(200, "POST", "pause", {"toDisk": True})
        self.own.terminate()
        with sqlite3.connect(self.own.state / "cove.db") as store:
            store.execute("PRAGMA foreign_keys = ON")
            store.execute("DELETE FROM sandbox WHERE id = ?", (box.id,))
        store.close()
        self.own.start()
        thing = f"disk:{box.id}"
        wait_for(lambda: thing in self.quarantine())
        return thing

    def quarantine(self):
        return [thing["thing"] for thing in self.api.get("/api/quarantine")["things"]]


# Sandboxes

@operation("POST /api/sandbox", 201, again=(200,))
def create(w):
    name = w.fresh("made")
    return Prepared(lambda: w.lives(name), {"name": name, "limits": LIMITS})


@operation("POST /api/sandbox", 201, again=(200,))
def create_that_keeps(w):
    name = w.fresh("made")
    return Prepared(lambda: w.lives(name), {"name": name, "limits": LIMITS, "persistent": True, "template": "small"})


@operation("DELETE /api/sandbox/{id}", again=(404,), ends=True)
def delete(w):
    box = w.box()
    return Prepared(lambda: box.call("GET").status == 404 or w.status(box) not in LIVE, query={"force": "true"}, id=box.id)


@operation("DELETE /api/sandbox/{id}", again=(404,), ends=True)
def delete_one_that_keeps(w):
    box = w.kept()
    return Prepared(lambda: box.call("GET").status == 404 or w.status(box) not in LIVE, query={"force": "true"}, id=box.id)


@operation("POST /api/sandbox/{id}/start", rows=True)
def start(w):
    box = w.box()
    box.do("stop")
    return Prepared(lambda: w.status(box) == "ready", id=box.id)


@operation("POST /api/sandbox/{id}/stop", rows=True)
def stop(w):
    box = w.box()
    w.begin(box, "exec sleep 3001")
    return Prepared(lambda: w.status(box) == "stopped", {"graceSeconds": 1}, id=box.id)


@operation("POST /api/sandbox/{id}/pause", rows=True)
def pause(w):
    box = w.box()
    return Prepared(lambda: w.status(box) == "paused", id=box.id)


@operation("POST /api/sandbox/{id}/pause", rows=True)
def park(w):
    box = w.kept()
    return Prepared(lambda: (w.status(box), box.get()["parked"]) == ("paused", True), {"toDisk": True}, id=box.id)


@operation("POST /api/sandbox/{id}/resume", rows=True)
def resume(w):
    box = w.box()
    box.do("pause")
    return Prepared(lambda: w.status(box) == "ready" and box.out("echo on") == "on\n", id=box.id)


@operation("POST /api/sandbox/{id}/resume")
def resume_from_disk(w):
    box = w.kept()
    box.do("pause", {"toDisk": True})
    return Prepared(lambda: w.status(box) == "ready" and box.out("cat f") == "kept\n", id=box.id)


@operation("POST /api/sandbox/{id}/timeout", rows=True)
def set_timeout(w):
    box = w.box()
    return Prepared(lambda: box.get()["expires_at"] is not None, {"timeoutSeconds": 12345}, id=box.id)


@operation("POST /api/sandbox/cleanup", alone=True)
def clean_up(w):
    box = w.box()
    wait_for(lambda: box.id in w.api.expect(200, "POST", "/api/sandbox/cleanup", {}, query={"maxAgeSeconds": "1", "dryRun": "true"}).body.decode())
    return Prepared(lambda: w.status(box) not in LIVE, query={"maxAgeSeconds": "1"})


@operation("POST /api/sandbox/cleanup/emergency", alone=True)
def clean_up_in_an_emergency(w):
    box = w.box()
    return Prepared(lambda: w.status(box) not in LIVE)


@operation("POST /api/sandbox/reconcile")
def reconcile(w):
    return Prepared(None)


@operation("POST /api/pool/drain")
def drain(w):
    """They are made anew, whether it was done or not."""
    wait_for(lambda: w.lives(w.box(profile="STORM").id))
    return Prepared(None)


# Commands

@operation("POST /api/sandbox/{id}/exec")
def execute(w):
    box, tag = w.box(), w.fresh("tag")

    def done():
        found = [e["id"] for e in box.expect(200, "GET", "exec").json if e["tag"] == tag]
        if any(box.wait(eid)["exitCode"] != 3 for eid in found):
            raise AssertionError(f"{tag} ended otherwise: {[box.execution(eid) for eid in found]}")
        return bool(found)
    return Prepared(done, {"script": "exit 3", "tag": tag}, id=box.id)


def with_input(w):
    """Of a command that keeps what it hears where no journal is needed."""
    box = w.box()
    return box, box.begin("exec cat > heard", stdin=True, timeoutSeconds=3000)


@operation("POST /api/sandbox/{id}/exec/{eid}/stdin")
def write_to_stdin(w):
    box, eid = with_input(w)
    return Prepared(lambda: w.reads(box, "heard") not in (None, b""), b"fed\n", id=box.id, eid=eid)


@operation("POST /api/sandbox/{id}/exec/{eid}/stdin/close", rows=True)
def close_stdin(w):
    box, eid = with_input(w)
    return Prepared(lambda: not box.runs(eid), id=box.id, eid=eid)


@operation("POST /api/sandbox/{id}/exec/{eid}/signal", ends=True)
def send_signal(w):
    box = w.box()
    eid = w.begin(box, "exec sleep 3002")
    return Prepared(lambda: not box.runs(eid), {"signal": "KILL"}, id=box.id, eid=eid)


@operation("POST /api/sandbox/{id}/exec/{eid}/resize")
def resize(w):
    box = w.box()
    eid = w.begin(box, "while :; do stty size; sleep .1; done", pty={"cols": 80, "rows": 24})
    return Prepared(lambda: b"33 91" in box.output(eid), {"cols": 91, "rows": 33}, id=box.id, eid=eid)


# Files

@operation("PUT /api/sandbox/{id}/files", 200, 201)
def write_file(w):
    box, data = w.box(), os.urandom(1 << 20)
    box.put("f", b"old")

    def done():
        found = w.reads(box, "f")
        if found not in (b"old", data):
            raise AssertionError(f"the file has {len(found or b'')} bytes, and is neither the old nor the new one")
        return found == data
    return Prepared(done, data, {"path": "f"}, id=box.id)


@operation("DELETE /api/sandbox/{id}/files", again=(404,))
def remove_file(w):
    box = w.box()
    box.put("f", b"old")
    return Prepared(lambda: w.reads(box, "f") is None, query={"path": "f"}, id=box.id)


@operation("POST /api/sandbox/{id}/files/mkdir", 200, 201)
def make_directory(w):
    box = w.box()
    return Prepared(lambda: box.expect((200, 404), "GET", "files/stat", query={"path": "d"}).status == 200, {"path": "d"}, id=box.id)


@operation("POST /api/sandbox/{id}/files/move", again=(404,))
def move_file(w):
    box = w.box()
    box.put("f", b"old")

    def done():
        found = w.reads(box, "f"), w.reads(box, "g")
        if found not in ((b"old", None), (None, b"old")):
            raise AssertionError(f"half moved: {found}")
        return found[1] is not None
    return Prepared(done, {"from": "f", "to": "g"}, id=box.id)


@operation("POST /api/sandbox/{id}/files/copy")
def copy_file(w):
    box, data = w.box(), os.urandom(1 << 20)
    box.put("f", data)

    def done():
        found = w.reads(box, "g")
        if found not in (None, data):
            raise AssertionError(f"half copied: {len(found)} bytes")
        return found is not None
    return Prepared(done, {"from": "f", "to": "g", "replace": True}, id=box.id)


@operation("POST /api/sandbox/{id}/files/chmod")
def change_mode(w):
    box = w.box()
    box.put("f", b"old")
    return Prepared(lambda: box.expect(200, "GET", "files/stat", query={"path": "f"}).json["mode"] == "0600", {"path": "f", "mode": "0600"}, id=box.id)


@operation("PUT /api/sandbox/{id}/files/archive", 200, 201)
def unpack(w):
    """File by file, as tar does: some of them is not done, and none is torn."""
    box, files = w.box(), {name: os.urandom(200000) for name in "abc"}

    def done():
        found = {name: w.reads(box, name) for name in files}
        torn = [name for name, data in files.items() if found[name] not in (None, data)]
        if torn:
            raise AssertionError(f"torn: {torn}")
        return None not in found.values()
    return Prepared(done, registry.tar(files), {"path": "."}, TAR, id=box.id)


# Interpreters

def context(w):
    box = w.box()
    return box, box.expect(201, "POST", "contexts", {"language": "python"}).json["id"]


def contexts(box):
    return {c["id"]: c for c in box.expect(200, "GET", "contexts").json["contexts"]}


def runs_code(box, cid, code):
    return box.expect(200, "POST", f"contexts/{cid}/run", {"code": code}).json


@operation("POST /api/sandbox/{id}/contexts", 201)
def begin_interpreter(w):
    box = w.box()
    return Prepared(lambda: bool(contexts(box)), {"language": "python"}, id=box.id)


@operation("DELETE /api/sandbox/{id}/contexts/{cid}", again=(404,))
def end_interpreter(w):
    box, cid = context(w)
    return Prepared(lambda: cid not in contexts(box), id=box.id, cid=cid)


@operation("POST /api/sandbox/{id}/contexts/{cid}/run")
def run_code(w):
    box, cid = context(w)
    return Prepared(lambda: w.reads(box, "f") == b"ran", {"code": "with open('f', 'w') as f: f.write('ran')"}, id=box.id, cid=cid)


@operation("POST /api/sandbox/{id}/contexts/{cid}/restart", again=(404,))
def restart_interpreter(w):
    box, cid = context(w)
    runs_code(box, cid, "state = 1")

    def done():
        """The old one ends when another can be begun; only who dies in between takes both."""
        return None if cid not in contexts(box) else runs_code(box, cid, "state")["error"] is not None
    return Prepared(done, id=box.id, cid=cid)


@operation("POST /api/sandbox/{id}/contexts/{cid}/interrupt")
def interrupt(w):
    box, cid = context(w)

    def run():
        try:
            box.call("POST", f"contexts/{cid}/run", {"code": "open('begun', 'w').close()\nimport time\ntime.sleep(3003)"})
        except (Broken, OSError):
            pass  # whoever is killed takes this with him
    threading.Thread(target=run, daemon=True).start()
    wait_for(lambda: w.reads(box, "begun") is not None)
    return Prepared(lambda: not contexts(box)[cid]["busy"], id=box.id, cid=cid)


# What a sandbox may

@operation("PUT /api/sandbox/{id}/policy", rows=True)
def change_policy(w):
    (old, _), (new, word) = ASIDE.items()
    box = w.box(network={"mode": "egress", "allow": [ASIDE[old]]})
    return Prepared(lambda: box.expect(200, "GET", "policy").json["network"]["allow"] == [new], {"network": {"mode": "egress", "allow": [word]}}, id=box.id)


@operation("POST /api/approvals/{approval}", again=(404, 409), rows=True)
def deny(w):
    """Who waits for an answer, asks again when the one whom he had asked is dead: there may be another question."""
    box = w.box(network={"mode": "egress", "ask": ["tcp://198.51.100.8:7"], "askTimeoutSeconds": 3000})
    eid = box.begin("exec bash -c 'exec 3<>/dev/tcp/198.51.100.8/7; read -r line <&3'", timeoutSeconds=3000)

    def asked(*statuses):
        return [a["id"] for status in statuses for a in w.api.get("/api/approvals", query={"status": status}) if a["sandbox"] == box.id]
    wait_for(lambda: asked("open"))
    return Prepared(lambda: not box.runs(eid) or not asked("open"), {"allow": False, "scope": "once"}, approval=asked("open")[0])


@operation("PUT /api/sandbox/{id}/url/{port}")
def make_public(w):
    box = w.box()
    return Prepared(lambda: box.expect(200, "GET", "url/8000").json["public"], {"public": True}, id=box.id, port=8000)


# Keys, tenants, secrets, alerts

@operation("POST /api/key", 201)
def make_key(w):
    name = w.fresh("key")
    return Prepared(lambda: name in [k["name"] for k in w.api.get("/api/key")], {"name": name, "scope": "use"})


@operation("DELETE /api/key/{id}", again=(404,), rows=True)
def remove_key(w):
    key = w.api.expect(201, "POST", "/api/key", {"name": w.fresh("key"), "scope": "use"}).json
    return Prepared(lambda: key["id"] not in [k["id"] for k in w.api.get("/api/key")], id=key["id"])


@operation("PUT /api/tenant/{name}", 201, 200)
def make_tenant(w):
    name = w.fresh("tenant")
    return Prepared(lambda: w.there(f"/api/tenant/{name}"), {"quotas": {"sandboxes": 7}}, name=name)


@operation("DELETE /api/tenant/{name}", again=(404,), rows=True)
def remove_tenant(w):
    name = w.fresh("tenant")
    w.api.expect(201, "PUT", f"/api/tenant/{name}", {})
    return Prepared(lambda: not w.there(f"/api/tenant/{name}"), name=name)


def secret(w):
    name = w.fresh("secret")
    w.api.expect(201, "PUT", f"/api/secrets/{name}", {"value": "hidden"})
    return name


@operation("PUT /api/secrets/{name}", 201, 200, rows=True)
def set_secret(w):
    name = w.fresh("secret")
    return Prepared(lambda: w.there(f"/api/secrets/{name}"), {"value": "hidden"}, name=name)


@operation("DELETE /api/secrets/{name}", again=(404,), rows=True)
def remove_secret(w):
    name = secret(w)
    return Prepared(lambda: not w.there(f"/api/secrets/{name}"), name=name)


@operation("DELETE /api/secrets", alone=True)
def remove_all_secrets(w):
    secret(w)
    return Prepared(lambda: not w.api.get("/api/secrets"), query={"all": "true"})


@operation("POST /api/alerts/{alert}/acknowledge", rows=True)
def acknowledge(w):
    def alert():
        return next((a for a in w.api.get("/api/alerts") if a["name"] == LEAK and a["status"] in ("firing", "acknowledged")), None)
    note = w.fresh("note")
    wait_for(alert)
    return Prepared(lambda: alert()["note"] == note, {"by": "kim", "note": note}, alert=alert()["id"])


# Agents

@operation("POST /api/agents/execute", 202)
def execute_an_agent(w):
    task = w.fresh("task")

    def done():
        found = [e["id"] for e in w.api.get("/api/agents/executions") if e["taskId"] == task]
        if len(found) > 1:
            raise AssertionError(f"one key, {len(found)} executions")
        if found and w.ended(found[0]) != "completed":
            raise AssertionError(f"it was taken, and came to nothing: {w.execution(found[0])}")
        return bool(found)
    body = {"taskId": task, "agentType": "STORM", "async": True, "command": ["sh", "-c", "echo on"]}
    return Prepared(done, body, headers={"Idempotency-Key": task})


@operation("POST /api/agents/executions/{id}/cancel", 200, 202, again=(409,), rows=True)
def cancel(w):
    run = w.agent("exec sleep 3004")
    wait_for(lambda: w.execution(run)["status"] == "running")
    return Prepared(lambda: w.execution(run)["status"] == "cancelled", id=run)


@operation("POST /api/agents/executions/{id}/retry", again=(409,))
def retry(w):
    """A dead letter: its sandbox was taken from it, once too often."""
    run = w.agent("[ $COVE_ATTEMPT -gt 1 ] || exec sleep 3005", maxRetries=0)
    wait_for(lambda: w.execution(run)["status"] == "running" and w.execution(run)["attempts"][0].get("sandboxId"))
    box = Box(w.api, {"id": w.execution(run)["attempts"][0]["sandboxId"]})
    wait_for(lambda: any(b"3005" in open(f"/proc/{pid}/cmdline", "rb").read() for pid in w.own.processes() if os.path.exists(f"/proc/{pid}/cmdline")))
    os.kill(w.own.pid_one(box), 9)
    if w.ended(run) != "dead":
        raise AssertionError(f"no dead letter: {w.execution(run)}")

    def done():
        """It waits for its turn, then; or has ended well; or its sandbox was taken from it once more."""
        found = w.execution(run)
        if found["status"] in ("failed", "cancelled"):
            raise AssertionError(f"it was taken up, and came to nothing: {found}")
        return found["status"] != "dead" or found["attempt"] > 1
    return Prepared(done, id=run)


def ended_agent(w):
    run = w.agent("echo on")
    if w.ended(run) != "completed":
        raise AssertionError(str(w.execution(run)))
    return run


@operation("DELETE /api/agents/executions/{id}", again=(404,))
def forget_execution(w):
    run = ended_agent(w)
    return Prepared(lambda: not w.there(f"/api/agents/executions/{run}"), id=run)


@operation("DELETE /api/artifacts/{id}", again=(404,))
def remove_artifact(w):
    run = ended_agent(w)
    found = w.api.get("/api/artifacts", query={"owner": run})[0]["id"]
    return Prepared(lambda: not w.there(f"/api/artifacts/{found}/info"), id=found)


# Templates

@operation("POST /api/templates/build", 202, begun=True)
def build(w):
    name = w.fresh("built")
    data = hashlib.sha256(name.encode()).digest() * 1000
    context = registry.tar({"Dockerfile": b"FROM small\nCOPY data /data\nRUN echo more > /more\n", "data": data})
    return Prepared(lambda: w.template(name, "cat /more", "more\n"), context, {"name": name}, TAR)


@operation("POST /api/templates/pull", 202, begun=True)
def pull(w):
    name = w.fresh("pulled")
    return Prepared(lambda: w.template(name), {"image": f"{w.source.host}/a/b:1", "name": name})


@operation("POST /api/templates/import", 202, begun=True)
def import_one(w):
    name = w.fresh("imported")
    image = templates.image(registry.tar({"own": os.urandom(100000)}), User="root")
    return Prepared(lambda: w.template(name), registry.tar(registry.layout(image)), {"name": name})


@operation("DELETE /api/templates/{name}", again=(404,))
def remove_template(w):
    name = w.make_template(w.fresh("old"))
    return Prepared(lambda: not w.there(f"/api/templates/{name}"), name=name)


@operation("POST /api/templates/{name}/push", 202, begun=True)
def push(w):
    tag = w.fresh("tag")
    there = w.target.host, f"/v2/a/b/manifests/{tag}"

    def done():
        w.made("small")
        connection = http.client.HTTPConnection(there[0], timeout=60)
        connection.request("GET", there[1], headers={"Accept": registry.MANIFEST})
        status = connection.getresponse().status
        connection.close()
        return status == 200
    return Prepared(done, {"reference": f"{w.target.host}/a/b:{tag}"}, name="small")


@operation("POST /api/sandbox/{id}/commit", 202, begun=True)
def commit(w):
    box, name = w.kept(), w.fresh("committed")
    return Prepared(lambda: w.template(name, "cat /workspace/f", "kept\n"), {"template": name}, id=box.id)


@operation("POST /api/templates/gc", 202, 200, begun=True)
def collect(w):
    """What the templates need stays."""
    return Prepared(lambda: w.template("small") and None)


@operation("DELETE /api/makings/{making}", 200, 202, again=(404, 409))
def cancel_making(w):
    """It ends in any case; never as one that runs."""
    name = w.fresh("slow")
    context = registry.tar({"Dockerfile": f"FROM small\nRUN echo {name}; sleep 3006\n".encode()})
    making = w.api.expect(202, "POST", "/api/templates/build", context, query={"name": name}, headers=TAR).json["id"]
    return Prepared(lambda: w.api.get(f"/api/makings/{making}")["status"] != "running" and not w.there(f"/api/templates/{name}"), making=making)


# Snapshots and volumes

def snapshot_of(w, box):
    return box.expect(201, "POST", "snapshots", {"name": w.fresh("snap")}).json["name"]


@operation("POST /api/sandbox/{id}/snapshots", 201, again=(409,))
def snapshot(w):
    box, name = w.kept(), w.fresh("snap")

    def done():
        there = w.there(f"/api/snapshots/{name}")
        if there:
            w.api.expect(200, "POST", f"/api/snapshots/{name}/verify", {})
        return there
    return Prepared(done, {"name": name}, id=box.id)


@operation("POST /api/sandbox/{id}/restore")
def restore(w):
    box = w.kept()
    name = snapshot_of(w, box)
    box.out("echo later > f; sync f")

    def done():
        """Who dies in between leaves it parked, with the one disk or with the other."""
        if w.status(box) == "paused":
            box.do("resume")
        found = box.out("cat f") if w.status(box) in ("ready", "running") else None
        if found not in ("kept\n", "later\n"):
            raise AssertionError(f"{box.get()['status']}, and the file has {found!r}")
        return found == "kept\n"
    return Prepared(done, {"snapshot": name}, id=box.id)


@operation("DELETE /api/snapshots/{snapshot}", again=(404,))
def remove_snapshot(w):
    name = snapshot_of(w, w.kept())
    return Prepared(lambda: not w.there(f"/api/snapshots/{name}"), snapshot=name)


def forked(w, names):
    """All of them or none."""
    there = [w.lives(name, "cat f", "kept\n") for name in names]
    if len(set(there)) > 1:
        raise AssertionError(f"some of the forks: {there}")
    return there[0]


@operation("POST /api/sandbox/{id}/fork", 201, again=(409,))
def fork(w):
    box, names = w.kept(), [w.fresh("fork") for _ in range(2)]
    return Prepared(lambda: forked(w, names), {"count": 2, "names": names}, id=box.id)


@operation("POST /api/snapshots/{snapshot}/fork", 201, again=(409,))
def fork_a_snapshot(w):
    name, names = snapshot_of(w, w.kept()), [w.fresh("fork") for _ in range(2)]
    return Prepared(lambda: forked(w, names), {"count": 2, "names": names}, snapshot=name)


@operation("POST /api/volumes", 201, again=(409,))
def make_volume(w):
    name = w.fresh("volume")
    return Prepared(lambda: w.there(f"/api/volumes/{name}"), {"name": name, "sizeMB": 8})


@operation("DELETE /api/volumes/{volume}", again=(404,))
def remove_volume(w):
    name = w.fresh("volume")
    w.api.expect(201, "POST", "/api/volumes", {"name": name, "sizeMB": 8})
    return Prepared(lambda: not w.there(f"/api/volumes/{name}"), volume=name)


# What nobody knows

@operation("DELETE /api/quarantine/{thing}", again=(404,))
def remove_what_nobody_knows(w):
    thing = w.forget(w.kept())
    return Prepared(lambda: thing not in w.quarantine(), thing=thing)


@operation("POST /api/quarantine/{thing}/restore", 201, again=(404, 409))
def restore_what_nobody_knows(w):
    box, name = w.kept(), w.fresh("found")
    thing = w.forget(box)

    def done():
        there = w.there(f"/api/sandbox/{name}")
        if there == (thing in w.quarantine()):
            raise AssertionError(f"{name} and {thing}: {'both' if there else 'neither'}")
        return there
    return Prepared(done, {"name": name, "limits": LIMITS}, thing=thing)
