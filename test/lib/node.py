"""node: a Node.js that E2B's SDK runs on: the host's, or npm's own package of it where the host's is too old, as Debian 12's is.

    program()      its path
    path()         a PATH in which it comes first
"""

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import covetest  # noqa: E402

OLDEST = (20, 19)  # require() of a module that is ECMAScript's: the SDK does so
VERSION = "20.20.2"
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
NPM_SECONDS = 300


def version(program):
    told = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    return tuple(map(int, re.findall(r"\d+", told)[:2]))


@functools.cache
def program():
    hosts = shutil.which("node")
    return hosts if hosts and version(hosts) >= OLDEST else installed()


def installed():
    """Below build/, beside the other packages that tests use."""
    place = covetest.cove_path().resolve().parent.parent / f"node-{VERSION}"
    package = f"node-linux-{MACHINES[os.uname().machine]}"
    found = place / "node_modules" / package / "bin" / "node"
    if found.exists():
        return str(found)
    if not shutil.which("npm"):
        covetest.skip("no npm here", "script/setup")
    partial = place.with_name(f"{place.name}.{os.getpid()}")  # suites run beside each other
    try:
        done = subprocess.run(["npm", "install", "--prefix", str(partial), "--no-audit", "--no-fund", "--ignore-scripts", f"{package}@{VERSION}"],
                              capture_output=True, text=True, timeout=NPM_SECONDS)
        if done.returncode != 0:
            raise AssertionError(f"npm cannot install {package}@{VERSION}\n{done.stdout}\n{done.stderr}")
        if not found.exists():
            shutil.rmtree(place, ignore_errors=True)
            partial.rename(place)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return str(found)


def path():
    return f"{Path(program()).parent}:{os.environ['PATH']}"
