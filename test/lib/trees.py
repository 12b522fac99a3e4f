"""trees: cove-tree as a program, on throw-away directories, and layers for it made by hand.

    result = tree("unpack", tree, stdin=layer(("etc/", {}), ("etc/x", b"text")))
    result.rc, result.report, result.out, result.error        # its status, the last report, 1, and 2 as (errno, sentence)
    look(directory)                                           # everything that is to be known of a tree, as a dictionary
"""

import gzip
import hashlib
import io
import json
import os
import stat
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("COVE_TREE", str(ROOT / "build/bin/cove-tree"))
WHEN = 1_600_000_000


class Result:
    def __init__(self, argv, rc, out, err, reports):
        self.argv, self.rc, self.out, self.err = argv, rc, out, err
        self.reports = [json.loads(line) for line in reports.splitlines()]
        self.report = self.reports[-1].get("result") if self.reports else None
        number, _, self.sentence = err.decode(errors="replace").partition(" ")
        self.errno = int(number) if number.isdigit() else None

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def __str__(self):
        return f"cove-tree {self.argv}: {self.rc}\n{self.err.decode(errors='replace')}{self.out[:2000]!r}\n{self.report}"


def tree(verb, *arguments, on=(), stdin=b"", timeout=60):
    """on: the directories that become 4, 5, 6."""
    fds = " ".join(f'{4 + i}<"$T{i}"' for i in range(len(on)))
    env = {**os.environ, **{f"T{i}": str(d) for i, d in enumerate(on)}, "REPORTS": ""}
    read, write = os.pipe()
    with open(read, "rb") as reports:
        options = {"stdin": stdin} if hasattr(stdin, "fileno") else {"input": stdin}
        try:
            done = subprocess.run(["sh", "-c", f'exec "$@" 3>&{write} {write}>&- {fds}' if write != 3 else f'exec "$@" {fds}', "sh", PROGRAM, verb,
                                   *map(str, arguments)], env=env, pass_fds=[write], capture_output=True, timeout=timeout, **options)
        finally:
            os.close(write)
        return Result((verb, *arguments), done.returncode, done.stdout, done.stderr, reports.read())


def member(name, what=None, **fields):
    """what: bytes are a file; a str is a link's target; None is what the name says; a TarInfo type is that."""
    info = tarfile.TarInfo(name)
    info.mtime, info.mode = WHEN, 0o644
    data = b""
    if isinstance(what, bytes):
        data = what
        info.size = len(data)
    elif isinstance(what, str):
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, what, 0o777
    elif name.endswith("/"):
        info.type, info.mode = tarfile.DIRTYPE, 0o755
    for key, value in fields.items():
        if key == "hard":
            info.type, info.linkname = tarfile.LNKTYPE, value
        elif key == "xattrs":
            info.pax_headers = {f"SCHILY.xattr.{k}": v for k, v in value.items()}
        else:
            setattr(info, key, value)
    return info, data


def plain(*members, form=tarfile.PAX_FORMAT):
    """(name, what, {fields}) each; what and fields may be missing."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for m in members:
            m = (m,) if isinstance(m, str) else m
            fields = m[-1] if len(m) > 1 and isinstance(m[-1], dict) else {}
            info, data = member(m[0], m[1] if len(m) > 1 and not isinstance(m[1], dict) else None, **fields)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def layer(*members, **options):
    return gzip.compress(plain(*members, **options), mtime=0)


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def look(top, times=True):
    """path → what is there; names of one file share a number."""
    seen, found = {}, {}

    def one(path, name):
        st = os.lstat(path)
        kind = stat.S_IFMT(st.st_mode)
        entry = {"type": stat.filemode(st.st_mode)[0], "ids": (st.st_uid, st.st_gid)}
        if kind != stat.S_IFLNK:
            entry["mode"] = oct(st.st_mode & 0o7777)
            entry["xattrs"] = {k: os.getxattr(path, k) for k in os.listxattr(path) if k.startswith(("user.", "security.cap"))} if kind in (
                stat.S_IFREG, stat.S_IFDIR) else {}
        if times:
            entry["mtime"] = st.st_mtime_ns if times == "exact" else int(st.st_mtime)
        if kind == stat.S_IFREG:
            entry["content"] = Path(path).read_bytes() if st.st_size < 1 << 20 else st.st_size
            if st.st_nlink > 1:
                entry["names"] = seen.setdefault((st.st_dev, st.st_ino), name)
        elif kind == stat.S_IFLNK:
            entry["target"] = os.readlink(path)
        found[name] = entry

    for directory, directories, files in os.walk(top):
        directories.sort()
        for name in sorted(directories + files):
            path = os.path.join(directory, name)
            one(path, os.path.relpath(path, top))
    return found
