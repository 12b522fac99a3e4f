# zygote.py: the interpreter's part of a zygote. Loads modules, forks on request, and becomes what its channel says.
#
# Until serve() returns nothing of any guest has been read. Then this is a process of a sandbox, and what it reads is that sandbox's own. `library` is cove-zygote.so.

import _signal  # signal itself makes enumerations of everything
import gc
import os
import sys

CHANNEL = 3
PIECE = 4096
AT_START = [(number, _signal.getsignal(number)) for number in (_signal.SIGINT, _signal.SIGPIPE, _signal.SIGXFSZ)]


def load(names):
    """The chosen modules. Gives what tells whether a sandbox would load the same: the interpreter, the places that it looks at, and the modules' own files."""
    for name in names:
        __import__(name)
    files = {sys.modules[name.partition(".")[0]].__file__ for name in names if getattr(sys.modules[name.partition(".")[0]], "__file__", None)}
    return {path: stamp(path) for path in [sys.executable, os.__file__, *sys.path, *files]}


def stamp(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def is_changed(loaded, names):
    """… or would find others first: in what its user has added."""
    for path, found in loaded.items():
        if stamp(path) != found:
            return True
    for path in sys.path:
        if path not in loaded and any(name.partition(".")[0] in entry.split(".") for name in names for entry in listing(path)):
            return True
    return False


def listing(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


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


def read_surroundings(receive):
    """The first message: a descriptor of a file with the working directory and the environment, as strings that end with NUL."""
    fd = receive()
    if fd < 0:
        sys.exit(1)
    texts = os.pread(fd, os.fstat(fd).st_size, 0).split(b"\0")
    os.close(fd)
    return texts[0], texts[1:-1]


def take_surroundings(cwd, environment):
    for name in list(os.environ._data):
        os.unsetenv(name)
    os.environ._data.clear()
    for line in environment:
        name, _, value = line.partition(b"=")
        os.putenv(name, value)
        os.environ._data[name] = value
    try:
        os.chdir(cwd)
    except OSError as error:
        sys.exit(f"{os.fsdecode(cwd)}: {error.strerror}")
    take_paths(os.environ._data)


def take_paths(environment):
    """What an interpreter looks at when it starts: PYTHONPATH, and the user's own packages, if there are any."""
    if b"PYTHONPATH" in environment:
        sys.path[:0] = [path for path in os.fsdecode(environment[b"PYTHONPATH"]).split(":") if path]
    if b"HOME" in environment and stamp(environment[b"HOME"] + b"/.local/lib"):
        import site
        site.USER_BASE = site.USER_SITE = None
        site.addusersitepackages(set(sys.path))


def read_driver(source, driver):
    """What is told is, as a rule, what was loaded ahead; then it is not kept a second time."""
    size = b""
    while not size.endswith(b"\n"):
        size += read_whole(CHANNEL, 1)
    size, at, told = int(size), 0, []
    while at < size:
        piece = os.read(CHANNEL, min(size - at, PIECE))
        if not piece:
            sys.exit(1)
        if driver is None or size != len(source) or source[at:at + len(piece)] != piece:
            driver = None
        told.append(piece if driver is None else (at, len(piece)))
        at += len(piece)
    if driver is not None:
        return driver
    return load_driver(b"".join(piece if isinstance(piece, bytes) else source[piece[0]:sum(piece)] for piece in told))


def numpy_seeder(ctypes):
    """How numpy's own generator becomes another one: by new words in its place, which its ctypes interface names; the plain way touches ninety pages."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not hasattr(numpy, "random"):
        return lambda: None
    try:
        generator = numpy.random.mtrand._rand._bit_generator
        address, size, state = generator.ctypes.state_address, 624 * 4, generator.state
        known = state["bit_generator"] == "MT19937" and ctypes.string_at(address, size) == state["state"]["key"].tobytes() and \
            ctypes.c_int.from_address(address + size).value == state["state"]["pos"]
    except (AttributeError, KeyError):
        known = False
    if not known:
        return numpy.random.seed
    place = ctypes.c_int.from_address(address + size)

    def seed():
        ctypes.memmove(address, os.urandom(size), size)
        place.value = 624  # all of it is used up: the next number mixes it
    return seed


def rehearse():
    """What everybody does first, done once: the tables of the parser, of the compiler, of JSON."""
    import ast
    import json
    tree = ast.parse("import sys\nx = [n + 1 for n in range(3)]\nprint(f'{x}', end='', file=None if x else sys.stdout)\nx", "<cove>", "exec")
    ast.fix_missing_locations(ast.Expression(tree.body[-1].value))
    exec(compile(ast.Module(tree.body[:2], []), "<cove>", "exec"), {})
    eval(compile(ast.Expression(tree.body[-1].value), "<cove>", "eval"), {"x": 1})
    json.loads(json.dumps({"type": "rehearsal", "text": "\u00e9", "n": [1, 2.5, None, True]}, ensure_ascii=False))


def fill():
    """What is free between objects of the allocator's pages: a child's own objects then lie together, on pages of their own, and not each on another one of these."""
    return [bytes(size - 33) for size in range(48, 513, 16) for _ in range(1500)], [n / 7 for n in range(20000)]


def main(library, ctypes, source, names):
    sys.path[:] = [path for path in sys.path if path]  # "": where the caller is
    driver = load_driver(source)
    loaded = load(names)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].switch_backend("Agg")
    seed = numpy_seeder(ctypes)
    seed()
    rehearse()
    # Looked up here: what is made in a child is its own. Likewise every page that it writes to, if only to count a reference.
    forked, receive, started, stale = ctypes.pythonapi.PyOS_AfterFork_Child, library.cove_zygote_receive, library.cove_zygote_started, library.cove_zygote_stale
    gc.collect()
    filler = fill()
    gc.freeze()  # a collection would write to every object, and unshare its page
    ctypes.pythonapi.PyOS_BeforeFork()
    library.cove_zygote_serve()
    # In the sandbox, behind its walls
    forked()  # random and all others that have asked for it are told
    for number, action in AT_START:
        _signal.signal(number, action)
    seed()
    sys.argv = [""]
    take_surroundings(*read_surroundings(receive))
    if is_changed(loaded, names):
        stale()
    started()
    read_driver(source, driver)["serve"](CHANNEL)
    del filler  # not before: that would write to all of its pages


main(library, ctypes, source, names)
