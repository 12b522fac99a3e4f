# zygote.py: the interpreter's part of a zygote. Loads modules, forks on request, and becomes what its channel says.
#
# Until serve() returns nothing of any guest has been read. Then this is a process of a sandbox, and what it reads is that sandbox's own. `library` is cove-zygote.so.

import gc
import importlib.machinery
import json  # the driver's and the guest's first imports, too
import os
import signal
import socket
import sys

CHANNEL = 3
AT_START = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)}


def load(names):
    """The chosen modules; what each of them and the interpreter is, to be looked at again inside."""
    for name in names:
        __import__(name)
    return {name: look(name) for name in {"", "os", *(name.partition(".")[0] for name in names)}}


def look(name):
    """Which file an import would take, and what tells whether it is still the same; "": the interpreter."""
    path = sys.executable
    if name:
        spec = importlib.machinery.PathFinder.find_spec(name)
        path = spec and spec.origin
    if not path or not os.path.isfile(path):
        return path
    found = os.stat(path)
    return path, found.st_size, found.st_mtime_ns


def load_driver(source):
    if not source:
        return None
    scope = {"__name__": "cove_driver"}
    exec(compile(source, "<cove>", "exec"), scope)
    return scope


def read_whole(fd, size):
    data = b""
    while len(data) < size:
        more = os.read(fd, size - len(data))
        if not more:
            sys.exit(1)
        data += more
    return data


def read_surroundings():
    """The first message: a descriptor of a file with the working directory and the environment, as strings that end with NUL."""
    with socket.socket(fileno=os.dup(CHANNEL)) as channel:
        _, fds, _, _ = socket.recv_fds(channel, 1, 1)
    if len(fds) != 1:
        sys.exit(1)
    with open(fds[0], "rb") as file:
        file.seek(0)  # it is where its writer has left it
        return [os.fsdecode(text) for text in file.read().split(b"\0")[:-1]]


def take_surroundings(cwd, *environment):
    os.environ.clear()
    for line in environment:
        name, _, value = line.partition("=")
        os.environ[name] = value
    try:
        os.chdir(cwd)
    except OSError as error:
        sys.exit(f"{cwd}: {error.strerror}")
    take_paths()


def take_paths():
    """What an interpreter looks at when it starts: PYTHONPATH, and the user's own packages."""
    import site
    sys.path[:0] = [path for path in os.environ.get("PYTHONPATH", "").split(":") if path]
    site.USER_BASE = site.USER_SITE = None
    if site.ENABLE_USER_SITE:
        site.addusersitepackages(set(sys.path))
    importlib.invalidate_caches()


def read_driver():
    size = b""
    while not size.endswith(b"\n"):
        size += read_whole(CHANNEL, 1)
    return read_whole(CHANNEL, int(size))


def settle(pythonapi):
    """What the fork has copied and each must have for itself. random and others that have asked for it are told by the interpreter."""
    pythonapi.PyOS_AfterFork_Child()
    for number, action in AT_START.items():
        signal.signal(number, action)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        numpy.random.seed()


def main(library, pythonapi, source, names):
    driver = load_driver(source)
    loaded = load(names)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].switch_backend("Agg")
    gc.collect()
    gc.freeze()  # a collection would write to every object, and unshare its page
    pythonapi.PyOS_BeforeFork()
    library.cove_zygote_serve()
    settle(pythonapi)
    # Behind the walls
    sys.argv = [""]
    take_surroundings(*read_surroundings())
    if any(look(name) != found for name, found in loaded.items()):
        library.cove_zygote_stale()
    library.cove_zygote_started()
    told = read_driver()
    if driver is None or told != source:
        driver = load_driver(told)
    driver["serve"](CHANNEL)


main(library, pythonapi, source, names)
