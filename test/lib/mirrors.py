"""mirrors: package registries made by a test: a Debian repository, a PyPI index and an npm registry, by their real names.

    mirrors = Mirrors()                       packages called NAME, whose answer is 42
    internet.http(80, mirrors.handler)        deb.debian.org: plain HTTP, as apt's sources have it
    internet.https(443, HOSTS, mirrors.handler)
    APT, PIP, NPM                             the commands of a user, with what only a test needs
"""

import base64
import hashlib
import io
import json
import posixpath
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

from internet import Handler

NAME = "cove-hour"
DEBIAN, INDEX, FILES, REGISTRY, ELSEWHERE = "deb.debian.org", "pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "elsewhere.example.org"
HOSTS = [DEBIAN, INDEX, FILES, REGISTRY, ELSEWHERE]
SOURCE = f"deb [trusted=yes] http://{DEBIAN}/hour ./"
APT = "-o Dir::Etc::sourcelist=/tmp/hour.list -o Dir::Etc::sourceparts=- -o Acquire::Retries=0 -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root"
AS_ROOT = f"""echo '{SOURCE}' > /tmp/hour.list; apt-get -q {APT} update && apt-get -q {APT} install -y {NAME} && cat /usr/share/{NAME}/file"""
PIP = "REQUESTS_CA_BUNDLE=/tmp/world.pem python3 -m pip install --disable-pip-version-check --retries 0 --timeout 60 --no-cache-dir --quiet --root-user-action=ignore"
NPM = "npm --cafile=/tmp/world.pem --fetch-retries=0 --no-audit --no-fund --loglevel=error"


def wheel(name):
    """A package of one module, whose answer is 42: the file's name and its bytes."""
    files = {f"{name}.py": b"answer = 42\n",
             f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
             f"{name}-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
                     for path, data in files.items())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
        archive.writestr(f"{name}-1.0.dist-info/RECORD", record + f"{name}-1.0.dist-info/RECORD,,\n")
    return f"{name}-1.0-py3-none-any.whl", out.getvalue()


def deb():
    """The package's bytes, and its entry in the list of packages."""
    control = f"Package: {NAME}\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: of the first hour\n"
    with tempfile.TemporaryDirectory(prefix="covetest-deb-") as place:
        root = Path(place) / "root"
        for path, text in ((root / "DEBIAN/control", control), (root / f"usr/share/{NAME}/file", "from a mirror\n")):
            path.parent.mkdir(parents=True)
            path.write_text(text)
        root.chmod(0o755)
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", root, f"{place}/made.deb"], check=True, capture_output=True)
        data = (Path(place) / "made.deb").read_bytes()
    return data, f"{control}Filename: ./{NAME}.deb\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"


def tarball():
    """An npm package whose answer is 42, with a command."""
    out = io.BytesIO()
    description = {"name": NAME, "version": "1.0.0", "main": "index.js", "bin": {NAME: "index.js"}}
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data, mode in (("package/package.json", json.dumps(description).encode(), 0o644),
                                 ("package/index.js", b"#!/usr/bin/env node\nmodule.exports = 42; if (require.main === module) console.log('run', 42)\n", 0o755)):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), mode
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue(), description


class Mirrors:
    def __init__(self):
        package, entry = deb()
        name, built = wheel("covehour")
        packed, description = tarball()
        link = f'<a href="https://{FILES}/packages/{name}#sha256={hashlib.sha256(built).hexdigest()}">{name}</a>'
        version = {**description, "dist": {"tarball": f"https://{REGISTRY}/{NAME}/-/{NAME}-1.0.0.tgz", "shasum": hashlib.sha1(packed).hexdigest()}}
        self.files = {
            (DEBIAN, "/hour/Packages"): (entry.encode(), "text/plain"),
            (DEBIAN, f"/hour/{NAME}.deb"): (package, "application/octet-stream"),
            (INDEX, "/simple/covehour"): (f"<!DOCTYPE html><html><body>{link}</body></html>".encode(), "text/html"),
            (FILES, f"/packages/{name}"): (built, "application/octet-stream"),
            (REGISTRY, f"/{NAME}"): (json.dumps({"name": NAME, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}).encode(), "application/json"),
            (REGISTRY, f"/{NAME}/-/{NAME}-1.0.0.tgz"): (packed, "application/octet-stream"),
        }
        files = self.files

        class Registry(Handler):
            def do_GET(self):
                self.server.note(self, self.read_body())
                found = files.get((self.headers.get("Host", "").partition(":")[0], posixpath.normpath(self.path.partition("?")[0])))
                self.answer(200 if found else 404, *(found or (b"no such file\n", "text/plain")))

            do_POST = do_PUT = do_HEAD = do_GET

        self.handler = Registry
