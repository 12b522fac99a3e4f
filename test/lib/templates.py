"""templates: images with a shell in them, made by hand, and what tests of templates do with them."""

import os
import tarfile
import time
from pathlib import Path

import daemon
import registry

PATIENCE = 60.0 * daemon.SLOW
SETTINGS = {"storage": {"size": "1G"}, "images": {"maxSize": "200MB", "stallTime": "60s"}}
BUSYBOX = Path("/bin/busybox").read_bytes()
WORDS = "sh ls cat echo id env pwd test sleep touch mkdir rm ln stat head wc".split()


def directory(name, mode=0o755):
    info = tarfile.TarInfo(name)
    info.type, info.mode = tarfile.DIRTYPE, mode
    return info, b""


def file(name, data=b"", mode=0o644, uid=0):
    info = tarfile.TarInfo(name)
    info.mode, info.uid, info.gid = mode, uid, uid
    return info, data if isinstance(data, bytes) else data.encode()


PASSWD = "root:x:0:0:root:/root:/bin/sh\napp:x:1234:5678:app:/srv/app:/bin/sh\n"


def base(**more):
    """A layer with a shell."""
    return registry.tar([directory("bin"), directory("etc"), directory("tmp", 0o1777), directory("srv"), directory("srv/app"),
                         file("bin/busybox", BUSYBOX, 0o755), *(registry.link("bin/" + word, "busybox") for word in WORDS),
                         file("etc/passwd", PASSWD), *(file(name, data) for name, data in more.items())])


BASE = base(old="old", gone="gone", **{"dir/a": "a", "dir/b": "b"})
CONFIG = {"Env": ["GREETING=hello", "PATH=/bin"], "WorkingDir": "/srv/app", "User": "app", "Cmd": ["sh"], "Labels": {"who": "test"}}


def image(*layers, **config):
    return registry.Image([BASE, *layers], {**CONFIG, **config})


class Case(daemon.Case):
    @property
    def daemon(self):
        if () not in daemon.Shared.daemons:
            started = daemon.Daemon(config=SETTINGS)
            daemon.Shared.daemons[()] = started.start()
            started.api.create().delete()
            started.descriptors_before = started.descriptors()
        return daemon.Shared.get(())

    def fresh(self):
        return "t-" + os.urandom(4).hex()

    def end(self, making, api=None, seconds=PATIENCE):
        api = api or self.api
        until = time.monotonic() + seconds
        while making["status"] == "running" and time.monotonic() < until:
            making = api.get(f"/api/makings/{making['id']}", query={"wait": "2"})
        self.assertNotEqual(making["status"], "running", str(making))
        return making

    def log(self, making, api=None):
        return (api or self.api).expect(200, "GET", f"/api/makings/{making['id']}/log").body.decode()

    def done(self, making, api=None):
        making = self.end(making, api)
        self.assertEqual(making["status"], "done", f"{making}\n{self.log(making, api)}")
        return making

    def failed(self, making, *words, api=None):
        making = self.end(making, api)
        self.assertEqual(making["status"], "failed", str(making))
        for word in words:
            self.assertIn(word, making["error"]["message"])
        return making

    def start_import(self, name, tar, api=None):
        return (api or self.api).expect(202, "POST", "/api/templates/import", tar, query={"name": name}).json

    def import_image(self, name, what, api=None):
        return self.done(self.start_import(name, registry.tar(registry.layout(what)), api), api)

    def start_pull(self, reference, name, api=None, **fields):
        return (api or self.api).expect(202, "POST", "/api/templates/pull", {"image": reference, "name": name, **fields}).json

    def pull(self, reference, name, api=None, **fields):
        return self.done(self.start_pull(reference, name, api, **fields), api)

    def collect(self, api=None):
        return self.done((api or self.api).expect(202, "POST", "/api/templates/gc", {}).json, api)

    def waste(self, api=None):
        return (api or self.api).post("/api/templates/gc", {"dryRun": True})

    def remove(self, name, api=None):
        (api or self.api).expect((200, 404), "DELETE", f"/api/templates/{name}")

    def nothing_left(self, name, api=None):
        """No template of that name, and no layer of a part of it."""
        (api or self.api).refuse(404, "not_found", "GET", f"/api/templates/{name}")

    def key(self, tenant, scope="use"):
        self.api.expect((200, 201), "PUT", f"/api/tenant/{tenant}", {})
        made = self.api.expect(201, "POST", "/api/key", {"name": "test", "scope": scope, "tenant": tenant}).json["key"]
        return self.api.with_token(made, self.daemon.url)
