"""holdings: what a daemon keeps beyond its sandboxes, seen from three sides that must agree: what it says, what its store has, what lies on the disk."""

import os
import shutil
import signal
import sqlite3
import subprocess

import covetest
import registry
from daemon import LIVE, STUCK, wait_for
from hoststate import entries, read

KINDS = ("layer", "disk", "snapshot", "volume", "scratch")
# Names, and whether what they name is on its way out: then its tree may be there or not.
ROWS = {"layer": "SELECT chain, removing FROM layer", "volume": "SELECT id, pending FROM volume",
        "snapshot": "SELECT id, pending FROM snapshot UNION SELECT name, removing FROM image_snapshot"}
PATIENCE = 60.0


def trees(own):
    """kind → names of the trees that there are. In the mount namespace of the spawner, the only one that has the depot."""
    depot = own.state / "depot"
    found = subprocess.run(["nsenter", "--target", str(own.keeper), "--mount", "find", str(depot), "-mindepth", "2", "-maxdepth", "2", "-printf", "%P\\n"],
                           capture_output=True, text=True, check=False).stdout.split()
    return {kind: {name.partition("/")[2] for name in found if name.startswith(kind + "/")} for kind in KINDS}


def rows(own):
    """kind → {name: whether it goes} that the store has. The daemon has its store for itself: a copy is read."""
    place = covetest.make_temporary_directory("store")
    try:
        for path in own.state.glob("cove.db*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, place / path.name)
        with sqlite3.connect(place / "cove.db") as store:
            found = {kind: dict(store.execute(query)) for kind, query in ROWS.items()}
            found["making"] = {row[0]: False for row in store.execute("SELECT id FROM making WHERE status = 'running'")}
    finally:
        store.close()
        covetest.remove_tree(place)
    found["disk"] = {record["id"]: False for record in own.api.list() if record["status"] in LIVE and record["persistent"]}
    found["scratch"] = {}
    return found


def may_be_there(own, kind):
    """Whoever published a layer was killed before he could say so: then it has a row after the next start."""
    return kind == "layer" and own.helper_killed == own.pid


def disagreement(own):
    """Rows without a tree, trees without a row, work that nobody does; in words, none of it when all is well."""
    try:
        have, know = trees(own), rows(own)
    except sqlite3.DatabaseError as error:
        return [f"the copy of the store is not whole: {error}"]
    found = [f"{kind} {name}: a tree, and no row" for kind in KINDS if not may_be_there(own, kind) for name in have[kind] - set(know[kind])]
    found += [f"{kind} {name}: a row, and no tree" for kind in KINDS for name, goes in know[kind].items() if name not in have[kind] and not goes]
    return found + [f"making {name}: is said to run" for name in know["making"]]


def bad_blobs(own):
    """Whatever has a final name is what the name says."""
    return [path.name for path in (own.state / "blobs").glob("sha256-*")
            if not path.name.endswith(".part") and "sha256-" + registry.sha(path.read_bytes())[7:] != path.name]


def frozen(own):
    """Sandboxes that stand still, and are not said to."""
    paused = {record["id"] for record in own.api.list() if record["status"] == "paused"}
    still = [path for path in own.cgroups() if read(f"{path}/freezer.state").strip() in (b"FROZEN", b"FREEZING") or read(f"{path}/cgroup.freeze").strip() == b"1"]
    return [path for path in still if not any(path.endswith(identity) for identity in paused)]


def settled(own, test):
    """Waits until the daemon has tidied up after a death; what does not become so is a failure."""
    test.assertTrue(wait_for(lambda: not own.api.get("/api/makings", query={"status": "running"}), PATIENCE, 0.1), own.api.get("/api/makings", query={"status": "running"}))
    test.assertTrue(wait_for(lambda: not [r for r in own.api.list() if r["status"] in STUCK], PATIENCE, 0.1),
                    f"stuck: {[(r['id'], r['status'], r['reason']) for r in own.api.list() if r['status'] in STUCK]}\n{own.log(8000)}")
    found = []

    def agree():
        found[:] = disagreement(own)
        return not found
    test.assertTrue(wait_for(agree, PATIENCE, 0.3), f"{found}\n{own.log(8000)}")
    test.assertEqual(bad_blobs(own), [])
    test.assertTrue(wait_for(lambda: not frozen(own), interval=0.2), f"frozen: {frozen(own)}\n{own.log(8000)}")


def helpers(own, *names):
    """pids of the daemon's helpers of these names, found quickly: they do not live long."""
    found, roots = [], {own.pid, own.keeper}
    for name in entries("/proc"):
        if name.isdigit() and read(f"/proc/{name}/comm").decode(errors="replace").strip() in names and ancestors(int(name)) & roots:
            found.append(int(name))
    return found


def ancestors(pid):
    found = set()
    while pid > 1 and pid not in found:
        found.add(pid)
        fields = read(f"/proc/{pid}/stat").decode(errors="replace").rpartition(")")[2].split()
        pid = int(fields[1]) if fields else 0
    return found


def kill_helper(own, chance, *names, seconds=1.0):
    """kill -9 of one of them, as soon as there is one and a moment later; None: nobody needed any."""
    pids = wait_for(lambda: helpers(own, *names), seconds, 0.005)
    if pids:
        try:
            os.kill(chance.choice(pids), signal.SIGKILL)
        except ProcessLookupError:
            return None
    return pids or None
