"""statecase: what the suites about kept state share: a daemon with a small depot, sandboxes that keep their disk, load that shows what was lost."""

import covetest
import daemon
from apiclient import Box
from daemon import wait_for

CONFIG = "storage: {size: 1G}\nlimits: {maxSandboxes: 90}\n"

# Numbered lines by several writers, the odd ones synced. Each says on its stdout what it has written by then: whoever reads that before a copy
# is made finds it in the copy.
WRITERS = 4
LOAD = """
import os, time
def write(k):
    fd = os.open("w%d" % k, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    n = 0
    while True:
        os.write(fd, b"%d\\n" % n)
        if k % 2:
            os.fsync(fd)
        else:
            time.sleep(.0005)
        os.write(1, b"%d %d\\n" % (k, n))
        n += 1
for k in range(4):
    if os.fork() == 0:
        write(k)
os.wait()
"""


def config_file(text=CONFIG):
    place = covetest.make_temporary_directory("config")
    place.chmod(0o755)
    path = place / "cove.yaml"
    path.write_text(text)
    path.chmod(0o644)
    return str(path)


def said(box, eid):
    """The last number that each writer has told of, -1: none."""
    last = [-1] * WRITERS
    for line in box.output(eid).decode().splitlines()[:-1]:  # the last may be half
        k, n = line.split()
        last[int(k)] = int(n)
    return last


class Case(daemon.Case):
    options = ("--config", config_file())

    def kept(self, api=None, **fields):
        return self.box(api, persistent=True, **fields)

    def snapshot(self, box, **fields):
        snapshot = box.expect(201, "POST", "snapshots", fields).json
        self.addCleanup(lambda: box.api.call("DELETE", f"/api/snapshots/{snapshot['id']}"))
        return snapshot

    def adopt(self, api, record):
        """A sandbox that something else than create has made."""
        box = Box(api, record)
        self.addCleanup(self.discard, box)
        return box

    def load(self, box):
        """Starts the writers and waits until each has written something."""
        box.put("load.py", LOAD.encode())
        eid = box.begin("exec python3 load.py", timeoutSeconds=600)
        self.assertTrue(wait_for(lambda: min(said(box, eid)) > 20), box.output(eid)[-200:])
        return eid

    def written(self, box):
        """How far each file goes; without a gap and without half a line."""
        ends = []
        for k in range(WRITERS):
            lines = box.out(f"cat w{k}").splitlines()
            self.assertEqual(lines, [str(n) for n in range(len(lines))], f"w{k}")
            ends.append(len(lines) - 1)
        return ends
