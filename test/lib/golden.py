"""golden: one of each object of a daemon, with every field set; and documents as texts that can be compared.

What is different each time (ids, times, sizes that are measured, numbers of processes) is replaced by a word for its kind; order and names of keys
stay. COVE_GOLDEN_WRITE=1 writes the texts anew instead of comparing.
"""

import json
import os
import re

from covetest import REPO
from daemon import LIVE, wait_for

PLACE = REPO / "test/golden/json"
WRITE = os.environ.get("COVE_GOLDEN_WRITE")

CONFIG = {
    "storage": {"size": "1G"},
    "profiles": {
        "golden": {"extends": "implementation", "description": "a profile of this file", "memory": "300MB", "cpuTime": "77s", "executionTime": "78s",
                   "networkRequests": 79, "storage": "80MB", "cpuCores": 1.5, "pids": 81, "nofile": 82, "outputLimit": "83KB", "maxConcurrent": 84,
                   "maxAttempts": 2, "stuckTimeout": "85m", "critical": True, "persistent": True, "command": ["true"], "env": {"P": "q"},
                   "workdir": "/home/user"},
    },
    "pools": [{"profile": "validation", "minSize": 0, "maxSize": 1, "adaptive": False}],
}

POLICY = {
    "network": {"mode": "egress", "allow": ["example.org", {"domain": "*.example.com", "ports": [443, "8000-8100"], "methods": ["GET"]}],
                "deny": ["bad.example.com"]},
    "readOnlyPaths": ["/etc"], "deniedPaths": ["/srv"], "maxFileSize": "10MB", "maxTotalSize": "64MB",
    "allowEnvironmentAccess": True, "allowedLanguages": ["python", "javascript"], "maxExecutionTime": 60000, "maxMemoryUsage": "256MB", "maxCpuUsage": 2,
}

LIMITS = {"memoryMB": 65, "cpuCores": 0.75, "cpuTimeSeconds": 31, "diskMB": 33, "pids": 67, "timeoutSeconds": 41, "outputBytes": 70001, "nofile": 301}

SANDBOX = {
    "name": "full", "template": "host", "profile": "golden", "agentType": "Reviewer", "taskId": "task-1", "limits": LIMITS, "env": {"A": "1", "B": "two = 2"},
    "workdir": "/home/user", "user": "1000:1000", "sudo": True, "metadata": {"k": "v", "nested": {"list": [1, None, True]}}, "critical": False,
    "timeoutSeconds": 3600, "onTimeout": "park", "persistent": True, "record": True, "waitSeconds": 5, "policy": POLICY,
    "volumes": [{"name": "data", "path": "/data"}, {"name": "data2", "path": "/mnt/ro", "readOnly": True}],
}

EXECUTION = {"command": "sh", "args": ["-c", "echo out; echo err >&2; exit 3"], "env": {"X": "y"}, "cwd": "/tmp", "user": "1000:1000", "stdin": "text",
             "timeoutSeconds": 20, "background": False, "tag": "first"}

JOB = {"taskId": "job-1", "agentType": "validation", "context": {"a": [1]}, "code": "print('done'); open('out.txt', 'w').write('x')", "language": "python", "env": {"E": "f"},
       "template": "host", "limits": {**LIMITS, "diskMB": 50, "memoryMB": 256}, "timeoutSeconds": 30, "maxRetries": 1, "priority": 7, "async": False,
       "captureFiles": True, "capturePatterns": ["*.txt"], "keepSandbox": False}


def make(daemon):
    """What the daemon then has, as name → path. The state of each is settled when this returns."""
    api = daemon.api
    docs = {}
    api.expect((200, 201), "PUT", "/api/tenant/acme", {"quotas": {"sandboxes": 11, "cpuCores": 12.5, "memoryMB": 1300, "diskMB": 1400}})
    key = api.expect(201, "POST", "/api/key", {"name": "golden", "scope": "use", "tenant": "acme", "loosen": True}).json
    docs["key-made"] = key
    for name, size in (("data", 16), ("data2", 17)):
        docs["volume-made"] = api.expect(201, "POST", "/api/volumes", {"name": name, "sizeMB": size}).json
    api.expect(201, "PUT", "/api/secrets/token", {"value": "not a secret of anybody"})
    full = api.create(**SANDBOX)
    docs["execution-made"] = full.exec(**EXECUTION)
    begun = full.begin("sleep 600", pty={"cols": 132, "rows": 43})
    if not wait_for(lambda: full.execution(begun)["status"] == "running"):
        raise AssertionError(f"an execution does not begin\n{daemon.log()}")
    docs["execution-running"] = full.execution(begun)
    docs["snapshot-made"] = full.expect(201, "POST", "snapshots", {"name": "first", "comment": "as it began"}).json
    full.expect(200, "POST", f"exec/{begun}/signal", {"signal": "KILL"})
    docs["execution-killed"] = full.wait(begun)
    docs["file"] = full.expect(201, "PUT", "files", b"content", query={"path": "/home/user/f", "mode": "640"}).json
    docs["preview"] = full.expect(200, "PUT", "url/3000", {"public": True}).json
    plain = api.create()
    docs["sandbox-plain"] = plain.get()
    plain.out("true")
    docs["sandbox-stopped"] = plain.do("stop", {"graceSeconds": 1})
    parked = api.create(name="parked", persistent=True)
    docs["sandbox-parked"] = parked.expect(200, "POST", "pause", {"toDisk": True, "endProcesses": True}).json
    paused = api.create(name="paused", env={"S": "secret:token"})
    docs["sandbox-paused"] = paused.do("pause")
    docs["sandbox-of-snapshot"] = api.create(name="child", snapshot="first", volumes=[]).get()
    making = parked_commit(api, daemon, docs)
    docs["job"] = api.expect(200, "POST", "/api/agents/execute", JOB, headers={"Idempotency-Key": "golden-1"}, timeout=60).json
    if not wait_for(lambda: not [box for box in api.list(taskId="job-1") if box["status"] in LIVE]):  # its sandbox goes behind the answer
        raise AssertionError(f"a sandbox does not end\n{daemon.log()}")
    docs["cleanup-run"] = api.expect(200, "POST", "/api/sandbox/cleanup").json
    docs.update({name: api.get(path) for name, path in {
        "sandbox": "/api/sandbox/full", "execution": f"/api/sandbox/full/exec/{docs['execution-made']['id']}", "executions": "/api/sandbox/full/exec",
        "policy": "/api/sandbox/full/policy", "explain": "/api/sandbox/full/policy/explain?url=https://example.org/&method=GET",
        "snapshots": "/api/snapshots", "volumes": "/api/volumes", "template": "/api/templates/golden:1", "making": f"/api/makings/{making}",
        "tenant": "/api/tenant/acme", "tenants": "/api/tenant", "keys": "/api/key", "secrets": "/api/secrets", "config": "/api/config", "pool": "/api/pool",
        "profiles": "/api/profiles", "profile": "/api/profiles/golden", "job-got": f"/api/agents/executions/{docs['job']['id']}",
        "jobs": "/api/agents/executions", "queue": "/api/agents/queue", "stats": "/api/sandbox/stats", "artifacts": "/api/artifacts",
        "rules": "/api/alerts/rules", "channels": "/api/alerts/channels", "ports": "/api/sandbox/full/ports", "cleanup": "/api/sandbox/cleanup",
        "files": "/api/sandbox/full/files/list?path=/home/user", "resources": "/api/sandbox/full/resources"}.items()})
    docs["resources"]["pids"] = docs["cleanup"]["pressure"] = "<any>"
    for rule in docs["rules"]:
        if rule["share"]:  # by the machine's memory, or by how many sandboxes there are
            rule["threshold"] = "<any>"
    return docs


def parked_commit(api, daemon, docs):
    """A template of a sandbox; gives the id of the making."""
    box = api.create(name="maker", persistent=True)
    box.out("echo made > /home/user/made")
    making = box.expect((200, 201, 202), "POST", "commit", {"template": "golden:1"}).json
    docs["making-made"] = making

    def over():
        return api.get(f"/api/makings/{making['id']}")["status"] not in ("queued", "running")
    if not wait_for(over, 60):
        raise AssertionError(f"the template is not made\n{daemon.log()}")
    return making["id"]


# Texts

MEASURED = re.compile(r"(^pid$|Bytes$|Ms$|_ms$|^bytes$|_mb$|MB$|cpu_percent|^size$|^inode$|device|^cpuUsec$|^maxRss|^operations$|usage|^free|^cap$)")
KEPT = {"memoryMB", "diskMB", "sizeMB", "outputBytes", "maxRequestBytes", "maxResponseBytes", "maxBytes"}  # asked for, not measured
VARYING = {"nextRunInSeconds", "lateSeconds", "lastRun", "lastDurationMs", "successRate", "runs", "value", "age_minutes", "missingGuards",
           "io_read_mb", "io_write_mb", "network_rx_mb", "network_tx_mb"}  # whatever is there, null as well: the machine's, or the moment's
MEASURES = {"metrics", "progress"}  # objects in which every number is measured
WORDS = (
    (re.compile(r"^\d{4}-\d\d-\d\dT[0-9:.]+Z$"), "<time>"),
    (re.compile(r"\b[a-z][a-z0-9]{20}\b"), "<id>"),
    (re.compile(r"\bm[0-9a-f]{24}\b"), "<making>"),
    (re.compile(r"sha256:[0-9a-f]{64}"), "<digest>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<hash>"),
    (re.compile(r"\ba[0-9a-f]{24}\b"), "<artifact>"),
    (re.compile(r"\bkey_[0-9a-f]{16}\b"), "<key id>"),
    (re.compile(r"\brun_[0-9a-f]{20}\b"), "<run>"),
    (re.compile(r"\be2b_[0-9a-f]{40}\b"), "<key>"),
    (re.compile(r"\be2b_[0-9a-f]{6}\b"), "<prefix>"),
    (re.compile(r"localhost:\d+"), "<address>"),
    (re.compile(r"/[^ ]*/cove\.yaml"), "<path>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
)


def settled(value, key="", of=""):
    """The value of a key, in an object that is the value of another key."""
    if key in VARYING:
        return "<any>"
    if isinstance(value, dict):
        return {settled(k): settled(v, k, key) for k, v in value.items()}
    if isinstance(value, list):
        return [settled(v, key, of) for v in value]
    if isinstance(value, str):
        for pattern, word in WORDS:
            value = pattern.sub(word, value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and (of in MEASURES or key not in KEPT and MEASURED.search(key)):
        return "<number>"
    return value


def text(value):
    return json.dumps(settled(value), indent=1, ensure_ascii=False) + "\n"


def check(test, name, value):
    """The document is as test/golden/json has it."""
    path, found = PLACE / f"{name}.json", text(value)
    if WRITE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found)
    test.assertTrue(path.exists(), f"there is no {path}: write it with COVE_GOLDEN_WRITE=1")
    test.maxDiff = None
    test.assertEqual(found, path.read_text(), name)
