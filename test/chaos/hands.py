"""hands: those who work on a daemon that is killed meanwhile, and keep books of what they were told.

A request that fails is asked again until it is done: nobody leaves a matter open. That it fails is fine as long as somebody was killed while
it was asked for; when nobody was, it is a lie.
"""

import hashlib
import os
import random
import threading
import time
import traceback

import registry
import templates
from daemon import Api, Broken, pause

PATIENCE = 90.0
FIRM = {"toDisk": True, "endProcesses": True, "graceSeconds": 1}
LIMITS = {"memoryMB": 64, "diskMB": 64}
# Lines of eight bytes: none crosses the end of a page, where a write can be seen half done, or be cut by SIGKILL.
WRITER = """
import os, sys, time
fd, n = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), 0
while True:
    os.write(fd, b"%07d\\n" % n)
    os.fsync(fd)
    os.write(1, b"%d\\n" % n)
    n += 1
    time.sleep(0.03)
"""
LOOK = "cat gen; for f in w*; do [ ! -e $f ] || awk -v f=$f 'length != 7 || $0 != NR - 1 { bad = 1 } END { print f, NR - 1, bad + 0 }' $f; done"
SUM = "busybox sha256sum"


class Lie(Exception):
    """The daemon said something that is not so."""


class Clock:
    """Counts deaths: odd while somebody dies or comes back."""

    def __init__(self):
        self.value, self.wave = 0, 0

    def quiet_since(self, then):
        return self.value == then and then % 2 == 0


class Hand(threading.Thread):
    """One worker of one round; its books outlive it."""

    def __init__(self, books, own, clock, over, seed):
        super().__init__(name=f"{type(self).__name__.lower()}-{books.number}", daemon=True)
        self.books, self.own, self.clock, self.over, self.lies, self.asked, self.again = books, own, clock, over, [], 0, 0
        self.chance = random.Random(seed)
        self.api, self.connected = Api(own.socket, timeout=PATIENCE), None

    def run(self):
        try:
            while not self.over.is_set():
                self.step()
        except (Lie, AssertionError) as lie:
            self.lies.append(f"{self.name}: {lie}")
        except Exception as error:  # a mistake of the test shows too
            self.lies.append(f"{self.name}: {error!r}\n{traceback.format_exc()}")

    def step(self):
        actions = self.actions()
        self.chance.choices([a for a, _ in actions], [weight for _, weight in actions])[0]()

    # Asking

    def ask(self, method, path, body=None, **kwargs):
        """One attempt. None: it failed because somebody died."""
        then, self.asked = self.clock.value, self.asked + 1
        if then != self.connected:  # what is connected to may have died while nothing was asked
            self.api.disconnect()
            self.connected = then
        try:
            reply = self.api.call(method, path, body, **kwargs)
        except (Broken, OSError) as error:
            return self.failed(then, f"{method} {path}: {error!r}")
        if reply.status in (500, 503):
            return self.failed(then, str(reply), bool(reply.code))
        return reply

    def failed(self, then, words, has_code=True):
        if self.clock.quiet_since(then) or not has_code:
            raise Lie(f"nobody was killed, and yet: {words}")
        self.again += 1
        pause(0.05)

    def insist(self, statuses, method, path, body=None, **kwargs):
        """Until one of these statuses is the answer; a conflict, as long as somebody dies. A body may be a function: then each attempt has its own."""
        end, then = time.monotonic() + PATIENCE, self.clock.value
        while True:
            reply = self.ask(method, path, body() if callable(body) else body, **kwargs)
            if reply is not None and reply.status in statuses:
                return reply
            if time.monotonic() > end:
                raise Lie(f"not within {PATIENCE:.0f} s: {method} {path}: {reply}")
            if reply is not None:
                if reply.status != 409 or self.clock.quiet_since(then):
                    raise Lie(f"{method} {path} {body if not isinstance(body, bytes) else ''}: {reply}")
                self.again += 1
                pause(0.05)

    def make(self, path, body=None, **kwargs):
        """A making that is done in the end; started again as long as deaths end it."""
        end = time.monotonic() + PATIENCE
        while True:
            then = self.clock.value
            reply = self.insist((202, 409), "POST", path, body, **kwargs)
            if reply.status == 409:
                return self.failed(then, str(reply))
            making = self.follow(reply.json)
            if making["status"] == "done":
                return making
            if making["status"] != "failed" or not making["error"]["message"] or time.monotonic() > end:
                raise Lie(f"{path}: {making}")
            self.failed(then, f"{path}: {making}")

    def follow(self, making):
        """To its end."""
        end = time.monotonic() + PATIENCE
        while making["status"] == "running" and time.monotonic() < end:
            reply = self.insist((200, 404), "GET", f"/api/makings/{making['id']}", query={"wait": "2"})
            if reply.status == 404:
                raise Lie(f"{making['id']} was begun and is not known any more")
            making = reply.json
        return making

    def exec(self, identity, script):
        reply = self.insist((200,), "POST", f"/api/sandbox/{identity}/exec", {"script": script})
        if reply.json["exitCode"] != 0:
            raise Lie(f"{identity}: {script}: {reply.json}")
        return reply.json["stdout"]

    def create(self, **fields):
        """Asking again gives the same one, if it was made."""
        body = {"name": f"{self.name}-{self.chance.randrange(1 << 40):x}", "limits": LIMITS, **fields}
        return self.insist((200, 201), "POST", "/api/sandbox", body).json["id"]

    def delete(self, identity):
        self.insist((200, 404), "DELETE", f"/api/sandbox/{identity}", query={"force": "true"})

    def look_into(self, template, script, wanted):
        identity = self.create(template=template)
        found = self.exec(identity, script)
        if found != wanted:
            raise Lie(f"template {template} has {found!r} and not {wanted!r}")
        self.delete(identity)


# Templates

class TemplateBooks:
    def __init__(self, number):
        self.number, self.templates = number, {}  # name → (script, what it says)


class Images(Hand):
    """Pulls, imports, builds; removes and cleans up."""

    world = None  # where images come from

    def actions(self):
        return [(self.pull, 4), (self.import_one, 3), (self.build, 5), (self.use, 3), (self.remove, 3), (self.collect, 2)]

    def pull(self):
        which = self.chance.randrange(len(self.world.images))
        image, name = self.world.images[which], f"pulled{self.books.number}-{which}"
        self.make("/api/templates/pull", {"image": f"{self.world.host}/storm/image:{which}", "name": name})
        self.books.templates[name] = image.check

    def import_one(self):
        name, image = f"imported{self.books.number}-{self.chance.randrange(3)}", storm_image(self.chance.randbytes(1 << 20))
        self.books.templates.pop(name, None)  # old or new, until it is told
        self.make("/api/templates/import", registry.tar(registry.layout(image)), query={"name": name})
        self.books.templates[name] = image.check

    def build(self):
        name, word, data = f"built{self.books.number}-{self.chance.randrange(3)}", f"{self.chance.randrange(6)}", self.chance.randbytes(300000)
        data = hashlib.sha256(word.encode()).digest() * 10000  # six different ones: the cache is met
        text = f"FROM small\nCOPY data /data\nRUN {SUM} /data > /sum; echo {word} > /n\nRUN sleep 0.1; echo second >> /n\n"
        self.books.templates.pop(name, None)
        self.make("/api/templates/build", registry.tar({"Dockerfile": text.encode(), "data": data}), query={"name": name}, headers={"Content-Type": "application/x-tar"})
        self.books.templates[name] = (f"{SUM} -c /sum; cat /n", f"/data: OK\n{word}\nsecond\n")

    def use(self):
        if self.books.templates:
            name = self.chance.choice(list(self.books.templates))
            self.look_into(name, *self.books.templates[name])

    def remove(self):
        if len(self.books.templates) > 2:
            name = self.chance.choice(list(self.books.templates))
            del self.books.templates[name]
            self.insist((200, 404), "DELETE", f"/api/templates/{name}")

    def collect(self):
        self.make("/api/templates/gc", {})


def storm_image(data, *common):
    image = templates.image(*(registry.tar({f"common{i}": part}) for i, part in enumerate(common)), registry.tar({"own": data}), User="root", WorkingDir="/")
    image.check = ("cd /; busybox sha256sum own common* 2>/dev/null; cat old",
                   "".join(f"{hashlib.sha256(d).hexdigest()}  {n}\n" for n, d in (("own", data), *((f"common{i}", c) for i, c in enumerate(common)))) + "old")
    return image


# Sandboxes that keep their disk

class Kept:
    """What is known of one sandbox."""

    def __init__(self, identity):
        self.id, self.gen, self.floors = identity, None, {}  # floors: file → the number that it has at least
        self.writer = self.file = None
        self.parked = self.paused = False


class BoxBooks:
    def __init__(self, number):
        self.number, self.boxes, self.snapshots, self.templates, self.count = number, [], {}, {}, 0  # snapshots: name → (gen, floors)


class Boxes(Hand):
    """Snapshots, forks, restores, parks sandboxes in which somebody writes."""

    def actions(self):
        if not self.books.boxes:
            return [(self.begin, 1)]
        return [(self.begin, 2 if len(self.books.boxes) < 3 else 0), (self.snapshot, 5), (self.fork, 2), (self.restore, 3 if self.books.snapshots else 0),
                (self.park, 4), (self.pause, 1), (self.forget, 3 * max(len(self.books.snapshots) - 3, 0)), (self.end, 1 if len(self.books.boxes) > 1 else 0),
                (self.commit, 1), (self.check_one, 3)]

    def fresh(self, prefix):
        self.books.count += 1
        return f"{prefix}{self.books.number}-{self.books.count}"

    def awake(self):
        """One of ours that runs, resumed if it does not."""
        box = self.chance.choice(self.books.boxes)
        self.wake(box)
        return box

    def wake(self, box):
        if box.parked or box.paused or self.record(box)["status"] == "paused":
            self.insist((200,), "POST", f"/api/sandbox/{box.id}/resume", {})
            box.writer = None if box.parked else box.writer
            box.parked = box.paused = False

    def record(self, box):
        record = self.insist((200,), "GET", f"/api/sandbox/{box.id}").json
        if record["status"] not in ("ready", "running", "paused", "initializing"):
            raise Lie(f"nobody ended it: {record}")
        return record

    def begin(self):
        box = Kept(self.create(persistent=True))
        self.books.boxes.append(box)
        self.change(box)
        self.write(box)

    def change(self, box):
        gen = self.fresh("gen")
        self.exec(box.id, f"echo {gen} > gen.new && sync gen.new && mv gen.new gen && sync .")
        box.gen = gen

    def write(self, box):
        """Into a file of its own: a request whose answer was lost may have been heard, and then there are two who write."""
        def attempt():
            box.file = self.fresh("w")
            return {"script": f'exec python3 -c "$WRITER" {box.file}', "env": {"WRITER": WRITER}, "background": True, "timeoutSeconds": 3000}
        box.writer = self.insist((200, 202), "POST", f"/api/sandbox/{box.id}/exec", attempt).json["id"]

    def told(self, box):
        """What the writer has said is on the disk."""
        if box.writer:
            lines = self.insist((200,), "GET", f"/api/sandbox/{box.id}/exec/{box.writer}/output", query={"stream": "stdout", "from": 0}).body.decode().split("\n")[:-1]
            if lines:
                box.floors[box.file] = int(lines[-1])

    def check(self, identity, gen, floors, what, must=True):
        """must: it was told of; else it may go."""
        reply = self.insist((200,) if must else (200, 404, 409), "POST", f"/api/sandbox/{identity}/exec", {"script": LOOK})
        if reply.status != 200:
            return
        lines = reply.json["stdout"].splitlines()
        if lines[:1] != [gen]:
            raise Lie(f"{what}: it is {lines[:1]} and not {gen}")
        found = {}
        for line in lines[1:]:
            name, last, bad = line.split()
            found[name] = int(last)
            if bad != "0":
                raise Lie(f"{what}: {name} is torn: {self.exec(identity, f'cat {name}')[-500:]!r}")
        for name, floor in floors.items():
            if found.get(name, -1) < floor:
                raise Lie(f"{what}: {name} has {found.get(name)} and had {floor} on the disk")

    def check_one(self):
        box = self.awake()
        self.told(box)
        self.check(box.id, box.gen, box.floors, f"sandbox {box.id}")
        if not box.writer:
            self.write(box)

    def snapshot(self):
        box, name = self.chance.choice(self.books.boxes), self.fresh("snap")
        if self.chance.random() < 0.7:
            self.wake(box)
            self.change(box)
        self.told(box)
        floors = dict(box.floors)
        while True:
            then = self.clock.value
            reply = self.ask("POST", f"/api/sandbox/{box.id}/snapshots", {"name": name})
            if reply is not None and reply.status == 201:
                break
            if self.insist((200, 404), "GET", f"/api/snapshots/{name}").status == 200:
                break
            if reply is not None:
                self.failed(then, str(reply))
        self.books.snapshots[name] = (box.gen, floors)

    def fork(self):
        if self.books.snapshots and self.chance.random() < 0.5:
            name = self.chance.choice(list(self.books.snapshots))
            where, (gen, floors) = f"/api/snapshots/{name}/fork", self.books.snapshots[name]
        else:
            box = self.awake()
            self.told(box)
            where, gen, floors = f"/api/sandbox/{box.id}/fork", box.gen, dict(box.floors)
        while True:
            then, names = self.clock.value, [self.fresh("fork") for _ in range(3)]
            reply = self.ask("POST", where, {"count": 3, "names": names})
            made = [r for r in (self.record_of(name) for name in names) if r]
            done = reply is not None and reply.status in (200, 201)
            if done and len(made) != 3:
                raise Lie(f"{len(made)} forks instead of 3: {reply}")
            for record in made:
                if done or (reply is None and record["status"] in ("ready", "running")):  # also those of an attempt that nobody knows the end of
                    self.check(record["id"], gen, floors, f"fork {record['name']}", done)
                self.delete(record["id"])
            if done:
                return
            if reply is not None:
                self.failed(then, str(reply))

    def record_of(self, name):
        reply = self.insist((200, 404), "GET", f"/api/sandbox/{name}")
        return reply.json if reply.status == 200 else None

    def restore(self):
        box, name = self.chance.choice(self.books.boxes), self.chance.choice(list(self.books.snapshots))
        parked = box.parked
        self.insist((200,), "POST", f"/api/sandbox/{box.id}/restore", {"snapshot": name})
        box.gen, box.floors = self.books.snapshots[name][0], dict(self.books.snapshots[name][1])
        box.writer = None
        box.parked, box.paused = parked, False
        self.wake(box)
        self.check(box.id, box.gen, box.floors, f"restored {box.id}")
        self.write(box)

    def park(self):
        box = self.chance.choice(self.books.boxes)
        self.told(box)
        self.insist((200,), "POST", f"/api/sandbox/{box.id}/pause", FIRM)
        self.told(box)  # and what came in between
        box.parked = True
        if self.chance.random() < 0.7:
            self.check_one()

    def pause(self):
        box = self.chance.choice(self.books.boxes)
        if not box.parked:
            self.insist((200,), "POST", f"/api/sandbox/{box.id}/pause", {})
            box.paused = True

    def forget(self):
        name = self.chance.choice(list(self.books.snapshots))
        del self.books.snapshots[name]
        self.insist((200, 404), "DELETE", f"/api/snapshots/{name}")

    def end(self):
        box = self.chance.choice(self.books.boxes)
        self.books.boxes.remove(box)
        self.delete(box.id)

    def commit(self):
        box, name = self.awake(), f"committed{self.books.number}"
        self.books.templates.pop(name, None)
        if self.make(f"/api/sandbox/{box.id}/commit", {"template": name}):
            self.books.templates[name] = ("cat /workspace/gen", f"{box.gen}\n")


# Volumes

class VolumeBooks:
    def __init__(self, number):
        self.number, self.volumes, self.count = number, {}, 0  # name → what its file has


class Volumes(Hand):
    def actions(self):
        return [(self.begin, 3 if len(self.books.volumes) < 6 else 0), (self.use, 4 if self.books.volumes else 0), (self.remove, 2 if len(self.books.volumes) > 2 else 0)]

    def begin(self):
        self.books.count += 1
        name = f"volume{self.books.number}-{self.books.count}"
        reply = self.insist((201, 409), "POST", "/api/volumes", {"name": name, "sizeMB": 8})
        if reply.status == 409:  # an attempt whose answer was lost
            self.insist((200,), "GET", f"/api/volumes/{name}")
        self.books.volumes[name] = ""

    def use(self):
        name, text = self.chance.choice(list(self.books.volumes)), f"{self.chance.randrange(1 << 60):x}"
        identity = self.create(volumes=[{"name": name, "path": "/v"}])
        found = self.exec(identity, "cat /v/text 2>/dev/null || true")
        if found.strip() not in (self.books.volumes[name],):
            raise Lie(f"volume {name} has {found!r} and not {self.books.volumes[name]!r}")
        self.exec(identity, f"echo {text} > /v/new && sync /v/new && mv /v/new /v/text && sync /v")
        self.books.volumes[name] = text
        self.delete(identity)

    def remove(self):
        name = self.chance.choice(list(self.books.volumes))
        del self.books.volumes[name]
        self.insist((200, 404), "DELETE", f"/api/volumes/{name}")
