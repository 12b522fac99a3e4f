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
from fetch import fetch, installed  # noqa: E402

OLDEST = (20, 19)  # require() of a module that is ECMAScript's: the SDK does so
VERSION = "20.20.2"
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


def version(program):
    told = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    return tuple(map(int, re.findall(r"\d+", told)[:2]))


@functools.cache
def program():
    hosts = shutil.which("node")
    return hosts if hosts and version(hosts) >= OLDEST else npms_own()


def npms_own():
    """Below build/, beside the other packages that tests use."""
    place = covetest.cove_path().resolve().parent.parent / f"node-{VERSION}"
    package = f"node-linux-{MACHINES[os.uname().machine]}"
    found = place / "node_modules" / package / "bin" / "node"
    with installed(place, b"") as lacks:
        if lacks:
            if not shutil.which("npm"):
                covetest.skip("no npm here", "script/setup")
            fetch("npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", "--ignore-scripts", f"{package}@{VERSION}")
    return str(found)


def path():
    return f"{Path(program()).parent}:{os.environ['PATH']}"
