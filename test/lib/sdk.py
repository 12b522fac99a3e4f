"""sdk: E2B's published SDK against a daemon: what it takes to be reached by it.

    modules()             E2B's packages from npm, installed from the lock file when they are not there; modules(directory): those of another suite
    plain(daemon, key)    the environment of a program that speaks plain HTTP over loopback
    wildcard(daemon, …)   … of one that speaks TLS and knows sandboxes by their names below a domain
    shared(name)          a daemon with TLS that all cases of a suite share, and a key
    python_packages()     a virtual environment with the Python SDK, made from requirements.txt when it is not there
"""

import atexit
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import covetest  # noqa: E402
import daemon  # noqa: E402
import node  # noqa: E402
from fetch import SECONDS, fetch, installed  # noqa: E402

HERE = Path(__file__).resolve().parent.parent / "compat" / "e2b"
DOMAIN = "sbx.test"
DRIVE_SECONDS = 1200  # against hanging


def modules(directory=HERE):
    """The packages, as the directory's lock file has them. A copy below build/ so that the tree stays clean."""
    place = covetest.cove_path().resolve().parent.parent / f"compat-{directory.name}"
    with installed(place, (directory / "package-lock.json").read_bytes()) as lacks:
        if lacks:
            install_modules(directory, place)
    return place


def install_modules(directory, place):
    if not shutil.which("npm"):
        covetest.skip("no npm here", "script/setup")
    place.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(directory / name, place)
    fetch("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=place)


def python_packages():
    """The packages of requirements.txt, by Debian's pip: the environment itself has none, so that python3-venv is not needed."""
    place = covetest.cove_path().resolve().parent.parent / "compat-e2b-python"
    with installed(place, (HERE / "requirements.txt").read_bytes()) as lacks:
        if lacks:
            install_python_packages(place)
    return place


def install_python_packages(place):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    fetch(sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "--quiet", "--no-deps", "--only-binary", ":all:",
          "--requirement", str(HERE / "requirements.txt"))


def python_program(place):
    return str(place / "bin" / "python"), str(HERE / "drive.py")


def python_names(place):
    done = subprocess.run([*python_program(place), "--list"], capture_output=True, text=True, timeout=SECONDS, env=clean())
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.split()


def with_tls(d):
    """A daemon that has not been started, with a certificate for the names below DOMAIN; ca.pem is beside it."""
    subprocess.run([str(HERE / "certs"), str(d.place)], check=True, capture_output=True)
    d.options += ["--tls-listen", "127.0.0.1:0", "--tls-cert", str(d.place / "cert.pem"), "--tls-key", str(d.place / "key.pem")]
    return d


def shared(name, **config):
    """A daemon with TLS for all cases of a suite, and a key for it; ended and looked after like all that are shared."""
    found = daemon.Shared.daemons.get(name)
    if found is None:
        found = daemon.Shared.daemons[name] = with_tls(daemon.Daemon(config={"storage": {"size": "4G"}, **config})).start()
        found.sdk_key = found.api.expect(201, "POST", "/api/key", {"name": name, "scope": "use"}).json["key"]
        first = found.api.expect(201, "POST", "/sandboxes", {"templateID": "base"}).json["sandboxID"]  # what is begun with the first is there from now on
        found.api.expect(204, "DELETE", f"/sandboxes/{first}")
        found.descriptors_before = found.descriptors()
    return found, found.sdk_key


def work(place):
    """The programs below their packages, in a directory of this process: node looks for packages upwards from the program itself."""
    own = place / f"work-{os.getpid()}"
    if not own.exists():
        own.mkdir()
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        for name in ("drive.mjs", "dnshook.cjs"):
            shutil.copy(HERE / name, own)
        shutil.copytree(HERE / "cases", own / "cases")
    return own


def clean():
    """Without what a caller may have set for another server, and with a Node.js that the SDK runs on."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("E2B_") and k not in ("NODE_OPTIONS", "NODE_EXTRA_CA_CERTS")}
    return {**kept, "PATH": node.path()}


def plain(d, key):
    url = f"http://127.0.0.1:{d.url[1]}"
    return {**clean(), "E2B_API_KEY": key, "E2B_API_URL": url, "E2B_SANDBOX_URL": url, "E2B_VOLUME_API_URL": url}


def wildcard(key, port, certificates, place):
    return {**clean(), "E2B_API_KEY": key, "E2B_DOMAIN": f"{DOMAIN}:{port}", "NODE_EXTRA_CA_CERTS": str(certificates / "ca.pem"),
            "NODE_OPTIONS": f"--require {place / 'dnshook.cjs'}"}


def names(place):
    done = subprocess.run(["node", "drive.mjs", "--list"], cwd=place, capture_output=True, text=True, timeout=SECONDS, env={**clean(), "E2B_API_KEY": "e2b_00"})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.split()


def drive(place, environment, *chosen, seconds=DRIVE_SECONDS, program=("node", "drive.mjs")):
    """name → what was told of it; a case that nothing was told of is not in it."""
    child = subprocess.Popen([*program, *chosen], cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
        err += f"\nnot done after {seconds} s"
    found = {}
    for line in out.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            err += f"\n{line}"
            continue
        found[told["name"]] = told
    return found, err
