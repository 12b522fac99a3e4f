"""initramfs.py: the guest's file system as one uncompressed cpio archive.

Writes the archive from memory: no staging tree, no root rights, no helper but ldd. Uncompressed, because an
emulated CPU unpacks slower than the host reads. Must not know: QEMU, the cases, how results are read.

    /init           the guest's first program
    /modules/       kernel modules and the order in which to load them
    /tree/          what /init copies to the real root: a small Debian-like system (merged /usr) with cove in it
    /usr, /lib …    links into /tree, so that its dynamic programs also run before the copy
"""

import os
import re
import stat
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

# The `host` template shows the guest's own /usr, so what runs in a sandbox is real and dynamic.
PROGRAMS = """
    /bin/bash /bin/cat /bin/chmod /bin/chown /bin/dd /bin/df /bin/ls /bin/mkdir /bin/mknod /bin/rm /bin/sleep
    /bin/touch /bin/true /sbin/mke2fs /usr/bin/env /usr/bin/find /usr/bin/id /usr/bin/od /usr/bin/setpriv
    /usr/bin/setsid /usr/bin/stat /usr/bin/timeout /usr/bin/unshare
""".split()

# The cases' own tools: static, so each starts in a quarter of the time.
APPLETS = """
    awk cmp cp cut diff dmesg false free grep head hostname ifconfig ip kill ln losetup lsmod mkfifo mktemp more mount mv ps
    readlink rmdir sed seq sh sort stty su sync tail tr truncate umount uname usleep vi wc which xargs
""".split()

DIRECTORIES = {
    "dev": 0o755, "proc": 0o555, "sys": 0o555, "run": 0o755, "tmp": 0o1777, "root": 0o700, "home": 0o755,
    "mnt": 0o755, "opt": 0o755, "srv": 0o755, "etc": 0o755, "test": 0o755, "var": 0o755, "var/lib": 0o755,
    "var/tmp": 0o1777, "usr/lib64": 0o755, "usr/share": 0o755, "usr/local/bin": 0o755, "usr/libexec": 0o755,
}

ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\ntester:x:1000:1000::/home/tester:/bin/bash\n",
    "group": "root:x:0:\ntester:x:1000:\n",
    "hosts": "127.0.0.1 localhost\n",
    "hostname": "guest\n",
    "machine-id": "0123456789abcdef0123456789abcdef\n",
    "resolv.conf": "nameserver 192.0.2.1\n",
    "debian_version": "12\n",
    "mke2fs.conf": "",
}

USER_ID = 1000


class Archive:
    """A cpio archive of the "newc" kind, the one the kernel unpacks. Parents are made on the way."""

    def __init__(self, output):
        self._output = output
        self._seen = set()
        self._inode = 0

    def _put(self, name, mode, data=b"", owner=0):
        self._inode += 1
        encoded = name.encode() + b"\0"
        fields = (self._inode, mode, owner, owner, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        for part in (header, data):
            self._output.write(part + b"\0" * (-len(part) % 4))

    def _is_first(self, name):
        if name in self._seen:
            return False
        self._seen.add(name)
        self.directory(os.path.dirname(name))
        return True

    def directory(self, name, mode=0o755, owner=0):
        if name and self._is_first(name):
            self._put(name, stat.S_IFDIR | mode, owner=owner)

    def file(self, name, data, mode=0o644, owner=0):
        if self._is_first(name):
            self._put(name, stat.S_IFREG | mode, data, owner)

    def copy(self, name, path):
        with open(path, "rb") as source:
            self.file(name, source.read(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def link(self, name, target):
        if self._is_first(name):
            self._put(name, stat.S_IFLNK | 0o777, target.encode())

    def close(self):
        self._put("TRAILER!!!", 0)


def merged(path):
    """Where a path of the host lives in a tree with merged /usr: /lib64/x and /usr/lib64/x are one file."""
    return re.sub(r"^/?(?=(?:bin|sbin|lib|lib64)/)", "usr/", path).lstrip("/")


def libraries(programs):
    """Every shared object the programs load, the loader included. Static programs simply have none."""
    listing = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False).stdout
    if "not found" in listing:
        raise RuntimeError("a program of this host lacks a library:\n" + listing)
    return sorted(set(re.findall(r"(/\S+) \(0x", listing)))


def add_system(archive):
    for name, mode in DIRECTORIES.items():
        archive.directory("tree/" + name, mode)
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.link("tree/" + name, "usr/" + name)
    for name, text in ETC.items():
        archive.file("tree/etc/" + name, text.encode())
    archive.file("tree/etc/shadow", b"root:guest-secret:19000:0:99999:7:::\n", 0o640)
    archive.file("tree/root/secret", b"guest-secret\n", 0o600)
    archive.directory("tree/home/tester", 0o700, owner=USER_ID)

    for path in PROGRAMS:
        archive.copy("tree/" + merged(path), path)
    archive.link("tree/usr/sbin/mkfs.ext4", "mke2fs")
    archive.copy("tree/usr/bin/busybox", "/bin/busybox")
    for name in APPLETS:
        archive.link("tree/usr/bin/" + name, "busybox")


def add_programs_under_test(archive, programs):
    """programs: name in the guest's /usr/local/bin → file on the host; one that is not there is left out."""
    present = {name: path for name, path in programs.items() if os.path.exists(path)}
    for name, path in present.items():
        archive.copy("tree/usr/local/bin/" + name, path)
    return list(present.values())


def build(output_path, kernel_dir, programs, config):
    """config: shell assignments that the guest's scripts read."""
    with open(output_path, "wb") as output:
        archive = Archive(output)
        archive.copy("init", os.path.join(HERE, "init"))
        for name in ("dev", "proc", "sys", "mnt"):
            archive.directory(name)
        for name in ("bin", "sbin", "lib", "lib64"):
            archive.link(name, "usr/" + name)
        archive.link("usr", "tree/usr")
        modules = os.path.join(kernel_dir, "modules")
        for name in sorted(os.listdir(modules)):
            archive.copy("modules/" + name, os.path.join(modules, name))

        add_system(archive)
        under_test = add_programs_under_test(archive, programs)
        for path in libraries(PROGRAMS + under_test):
            archive.copy("tree/" + merged(path), path)
        archive.copy("tree/test/inside.sh", os.path.join(HERE, "inside.sh"))
        archive.file("tree/test/config", config.encode())
        archive.close()
