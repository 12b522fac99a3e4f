"""registry: images made by hand, Debian's registry on loopback, and one that misbehaves on request."""

import gzip
import hashlib
import http.server
import io
import json
import os
import platform
import re
import resource
import socket
import ssl
import subprocess
import tarfile
import threading
import time
import urllib.parse

import covetest

OCI = "application/vnd.oci.image."
LAYER = OCI + "layer.v1.tar"
MANIFEST = OCI + "manifest.v1+json"
INDEX = OCI + "index.v1+json"
CONFIG = OCI + "config.v1+json"
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def program():
    return os.environ.get("COVE_REGISTRY", str(covetest.REPO / "build/bin/cove-registry"))


# Images

def sha(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def tar(files, kind="w"):
    """files: {name: bytes}, or TarInfo objects with bytes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=kind) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def link(name, target, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


PACK = {"": lambda data: data, "+gzip": lambda data: gzip.compress(data, 1, mtime=0), "+zstd": zstd}


class Image:
    """An image in memory: blobs by digest, and the manifest."""

    def __init__(self, layers, config=None, compression="+gzip", architecture=ARCHITECTURE, os_name="linux"):
        self.blobs = {}
        self.diff_ids = [sha(layer) for layer in layers]
        self.layers = [self.put(PACK[compression](layer), LAYER + compression) for layer in layers]
        self.config = {"architecture": architecture, "os": os_name, "config": config or {"Env": ["A=b"], "Cmd": ["sh"]},
                       "rootfs": {"type": "layers", "diff_ids": self.diff_ids}}
        self.seal()

    def put(self, data, media_type):
        self.blobs[sha(data)] = data
        return {"mediaType": media_type, "digest": sha(data), "size": len(data)}

    def seal(self, **changes):
        """The manifest anew, with what a test has changed about the image, and what it wants changed about the manifest."""
        self.config_descriptor = self.put(json.dumps(self.config).encode(), CONFIG)
        self.document = {"schemaVersion": 2, "mediaType": MANIFEST, "config": self.config_descriptor, "layers": self.layers, **changes}
        self.manifest = json.dumps(self.document).encode()
        self.digest = sha(self.manifest)
        return self

    @property
    def descriptor(self):
        return {"mediaType": MANIFEST, "digest": self.digest, "size": len(self.manifest)}


def index(*entries):
    return json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": list(entries)}).encode()


def for_platform(image, text):
    os_name, architecture, *variant = text.split("/")
    return {**image.descriptor, "platform": {"os": os_name, "architecture": architecture, **({"variant": variant[0]} if variant else {})}}


def layout(image, name="latest", **more):
    """The files of an OCI layout."""
    entry = {**image.descriptor, "annotations": {"org.opencontainers.image.ref.name": name}}
    files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": index(entry)}
    for digest, data in {**image.blobs, image.digest: image.manifest}.items():
        files["blobs/sha256/" + digest[7:]] = data
    return {**files, **more}


# Debian's registry

class Registry:
    """docker-registry on a free port, with its own directory."""

    def __init__(self, test, htpasswd=None):
        directory = test.tmp / "registry"
        directory.mkdir()
        self.port = covetest.free_port()
        settings = {"version": 0.1, "log": {"level": "error"}, "storage": {"filesystem": {"rootdirectory": str(directory / "store")}},
                    "http": {"addr": f"127.0.0.1:{self.port}"}}
        if htpasswd:
            (directory / "htpasswd").write_text(htpasswd)
            settings["auth"] = {"htpasswd": {"realm": "test", "path": str(directory / "htpasswd")}}
        (directory / "config.yml").write_text(json.dumps(settings))  # JSON is YAML
        self.log = open(directory / "log", "wb")
        self.child = subprocess.Popen(["docker-registry", "serve", str(directory / "config.yml")], stdout=self.log, stderr=self.log)
        test.addCleanup(self.stop)
        self.host = f"127.0.0.1:{self.port}"
        if not covetest.wait_for(self.answers):
            test.fail("docker-registry does not start: " + (directory / "log").read_text())

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def stop(self):
        self.child.kill()
        self.child.wait()
        self.log.close()


def skopeo(*args):
    return subprocess.run(["skopeo", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, timeout=60).stdout


# One that misbehaves

class Fake(http.server.ThreadingHTTPServer):
    """A registry in memory. faults: {part of a path: [fault, …]}, each taken by one request, the last one by all that follow; a fault is a
    function of the handler and the data that answers, or None for good behaviour."""

    daemon_threads = True

    def __init__(self, test, *images, token=None, given=None, user=None, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.host = f"127.0.0.1:{self.server_port}"
        self.blobs, self.manifests, self.types, self.faults = {}, {}, {}, {}
        self.requests, self.sent, self.lock = [], {}, threading.Lock()
        self.token, self.given, self.user, self.tokens = token, given, user, []  # given: other than what is accepted
        self.released = threading.Event()
        for number, image in enumerate(images):
            self.add(image, str(number + 1))
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        test.addCleanup(self.stop)

    def stop(self):
        self.released.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass

    def add(self, image, tag):
        self.blobs.update(image.blobs)
        self.add_manifest(image.manifest, tag)

    def add_manifest(self, data, tag, media_type=None):
        try:
            media_type = media_type or json.loads(data)["mediaType"]
        except (ValueError, KeyError, RecursionError):
            media_type = MANIFEST
        for key in (tag, sha(data)):
            self.manifests[key], self.types[key] = data, media_type

    def fault(self, path):
        with self.lock:
            for part, faults in self.faults.items():
                if part in path:
                    return faults.pop(0) if len(faults) > 1 else faults[0]
        return None

    def asked(self, part, method="GET"):
        return [r for r in self.requests if part in r.path and r.method == method]


class Request:
    def __init__(self, handler):
        self.method, self.path, self.headers = handler.command, handler.path, handler.headers


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, data=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.send(data)

    def send(self, data):
        if self.command == "HEAD":
            return
        self.wfile.write(data)
        with self.server.lock:
            self.server.sent[self.path] = self.server.sent.get(self.path, 0) + len(data)

    def do_GET(self):
        server = self.server
        with server.lock:
            server.requests.append(Request(self))
        if self.path.startswith("/token"):
            return self.give_token()
        if not self.is_welcome():
            return None
        data, headers = self.content()
        if data is None:
            return self.answer(404, b'{"errors":[{"code":"UNKNOWN","message":"not here"}]}')
        fault = server.fault(self.path)
        if fault:
            self.headers_of_good = headers
            return fault(self, data)
        return self.send_range(data, headers)

    do_HEAD = do_GET

    def content(self):
        kind, what = self.path.rsplit("/", 2)[-2:]
        if kind == "manifests" and what in self.server.manifests:
            data = self.server.manifests[what]
            return data, {"Content_Type": self.server.types[what], "Docker_Content_Digest": sha(data)}
        if kind == "blobs" and what in self.server.blobs:
            return self.server.blobs[what], {"Content_Type": "application/octet-stream"}
        return None, {}

    def send_range(self, data, headers):
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(match.group(1)) if match else 0
        if not match:
            return self.answer(200, data, **headers)
        if begin >= len(data):
            return self.answer(416)
        return self.answer(206, data[begin:], Content_Range=f"bytes {begin}-{len(data) - 1}/{len(data)}", **headers)

    def is_welcome(self):
        server = self.server
        given = self.headers.get("Authorization")
        if server.token:
            if given == f"Bearer {server.token}":
                return True
            self.answer(401, b"{}", WWW_Authenticate=f'Bearer realm="http://{server.host}/token",service="fake, \\"registry\\"",scope="repository:a/b:pull"')
            return False
        return True

    def give_token(self):
        server = self.server
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        with server.lock:
            server.tokens.append((query, self.headers.get("Authorization")))
        if server.user and self.headers.get("Authorization") != server.user:
            return self.answer(401, b'{"errors":[{"message":"wrong password"}]}')
        return self.answer(200, json.dumps({"access_token": server.given() if callable(server.given) else server.token}).encode())


# Faults

def status(code, **headers):
    return lambda handler, data: handler.answer(code, b'{"errors":[{"message":"because"}]}', **headers)


def cut(size):
    """Sends so many bytes of what is asked for, and closes."""
    def fault(handler, data):
        match = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        begin = int(match.group(1)) if match else 0
        handler.send_response(206 if match else 200)
        if match:
            handler.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        handler.send_header("Content-Length", str(len(data) - begin))
        handler.end_headers()
        handler.send(data[begin:begin + size])
        handler.wfile.flush()
        handler.close_connection = True
    return fault


def stall(size):
    """Sends so many bytes and then nothing, until the test is over."""
    def fault(handler, data):
        cut(size)(handler, data)
        handler.server.released.wait(60)
    return fault


def slow(pieces, pause):
    def fault(handler, data):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        for i in range(pieces):
            handler.send(data[len(data) * i // pieces:len(data) * (i + 1) // pieces])
            time.sleep(pause)
    return fault


def whole(handler, data):
    """Knows nothing of ranges."""
    handler.answer(200, data)


def instead(other):
    return lambda handler, data: handler.answer(200, other)


def endless(handler, data):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    chunk = b"x" * 65536
    for _ in range(1000):
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
    handler.close_connection = True


def redirect(place):
    return lambda handler, data: handler.answer(307, Location=place + handler.path)


# Running it

def random_tar(*sizes):
    return tar({f"file{i}": os.urandom(size) for i, size in enumerate(sizes)})


class Outcome:
    def __init__(self, child, out, err):
        self.rc, self.err = child.returncode, err.decode()
        lines = [json.loads(line) for line in out.decode().splitlines()]
        self.result = next((line["result"] for line in lines if "result" in line), None)
        self.progress = [line["progress"] for line in lines if "progress" in line]
        self.errno = int(self.err.split()[0]) if self.err else 0


class Case(covetest.TestCase):
    @property
    def blobs(self):
        path = self.tmp / "blobs"
        path.mkdir(exist_ok=True)
        return path

    def begin(self, *args, auth=None, blobs=None, limit=None, **kwargs):
        env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        if auth:
            env["COVE_REGISTRY_AUTH"] = auth

        def lower():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        child = subprocess.Popen([program(), *args, "--blobs", str(blobs or self.blobs)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                                 preexec_fn=lower if limit else None, **kwargs)
        self.addCleanup(covetest.stop, child)
        return child

    def finish(self, child, given=None, timeout=60):
        return Outcome(child, *child.communicate(given, timeout=timeout))

    def go(self, *args, given=None, **kwargs):
        """It must work."""
        outcome = self.finish(self.begin(*args, stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL, **kwargs), given)
        self.assertEqual((outcome.rc, outcome.err), (0, ""))
        self.check_blobs(kwargs.get("blobs"))
        return outcome.result

    def refuse(self, errno, *words, args, given=None, **kwargs):
        """It must not, and say why in one line."""
        outcome = self.finish(self.begin(*args, stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL, **kwargs), given)
        self.check_refusal(outcome, errno, *words)
        self.check_blobs(kwargs.get("blobs"))
        return outcome

    def check_refusal(self, outcome, errno, *words):
        self.assertEqual((outcome.rc, outcome.result, outcome.err.count("\n")), (1, None, 1), outcome.err)
        self.assertEqual(outcome.errno, errno, outcome.err)
        for word in words:
            self.assertIn(word, outcome.err)

    def check_blobs(self, blobs=None):
        """Whatever happened, what has a name is what the name says."""
        for path in (blobs or self.blobs).iterdir():
            if not path.name.endswith(".part"):
                self.assertEqual("sha256-" + sha(path.read_bytes())[7:], path.name)

    def check_image(self, result, image):
        self.assertEqual((result["manifestDigest"], result["configDigest"]), (image.digest, image.config_descriptor["digest"]))
        self.assertEqual(result["layers"], [{**layer, "diffId": diff_id} for layer, diff_id in zip(image.layers, image.diff_ids)])
        self.assertEqual(result["size"], sum(layer["size"] for layer in image.layers))
        for digest in (image.digest, image.config_descriptor["digest"], *(layer["digest"] for layer in image.layers)):
            self.assertTrue(self.blob(digest).exists(), digest)

    def blob(self, digest):
        return self.blobs / ("sha256-" + digest[7:])

    def part(self, digest):
        return self.blobs / ("sha256-" + digest[7:] + ".part")

    def layout_of(self, image, name="layout"):
        directory = self.tmp / name
        for path, data in layout(image).items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_bytes(data)
        return f"oci:{directory}:latest"
