"""main.py: Python that stays. The driver of contexts of that language.

Comes over the channel, after which serve(fd) never returns; context/internal.h has what is said there. Also the child of a
zygote calls serve(), with whatever modules are loaded already.

What code prints through sys.stdout is told as it is printed; what its subprocesses print comes through pipes in the place
of descriptors 1 and 2, and is told in the order in which it was written. Code runs in the main thread; another one reads
requests, so that an interruption finds its way; a third one reads the pipes.

Its other files are PARTS (context/assemble), compiled when they are needed first:
    streams   what is told and printed      charts    figures as data      magics, help, shim   where there is no IPython
    results   values as events              errors    tracebacks           ipython              where there is one
"""

import ast
import builtins
import os
import re
import signal
import sys
import threading
import types

LOADED = {}


def need(name):
    """A part of the driver."""
    if name not in LOADED:
        module = types.ModuleType("cove_" + name)
        module.need = need
        exec(compile(PARTS[name], "<cove %s>" % name, "exec"), module.__dict__)
        LOADED[name] = module
    return LOADED[name]


streams = need("streams")
results = need("results")
is_a = results.is_a

FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
SHELL_MARKS = re.compile(r"[%!?]")
COMMAND = re.compile(r"^([ \t]*)!(?!!).*$", re.M)
AUTOMAGIC = re.compile(r"\s*(ls|ll|pwd|cd|who|whos|pip|env|lsmagic|history|hist|time|timeit|cat|mkdir|rm|cp|mv|conda)\b[^=(\n]*\s*$")


def is_python(code):
    try:
        compile(dedent(code), "<cell>", "exec", FLAGS, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


class StdinNotImplementedError(NotImplementedError):
    pass


def no_input(prompt="", *_):
    raise StdinNotImplementedError("input() cannot be answered here: there is nobody who could")


def refresh_paths():
    """What pip has installed since we began: its directories may not have been there, and finders remember what was not there."""
    version = "python%d.%d" % sys.version_info[:2]
    for path in (os.path.expanduser("~/.local/lib/%s/site-packages" % version), "/usr/local/lib/%s/dist-packages" % version,
                 "/usr/local/lib/%s/site-packages" % version):
        if path not in sys.path and os.path.isdir(path):
            import site
            site.addsitedir(path)
    for finder in sys.meta_path:
        if hasattr(finder, "invalidate_caches"):
            finder.invalidate_caches()


def dedent(code):
    """As a whole, when its first line is indented."""
    first = next((line for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    space = first[:len(first) - len(first.lstrip())]
    if not space:
        return code
    return "\n".join(line[len(space):] if line.startswith(space) else line for line in code.splitlines()) + "\n"


def is_quiet(code):
    """Whether it ends with a semicolon, whatever is said behind it."""
    if ";" not in code:
        return False
    import io
    import tokenize
    last = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type not in (tokenize.ENDMARKER, tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.DEDENT):
                last = token.string
    except (tokenize.TokenError, SyntaxError):
        return False
    return last == ";"


class Hooks:
    """A finder that lets others find, and then does something to what they found."""

    def __init__(self, hooks):
        self.hooks = hooks
        self.busy = False

    def find_spec(self, name, path=None, target=None):
        if name not in self.hooks or self.busy:
            return None
        import importlib.util
        self.busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy = False
        if spec is None or spec.loader is None:
            return None
        execute, hook = spec.loader.exec_module, self.hooks[name]

        def exec_module(module):
            execute(module)
            hook(module)
        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            return None
        return spec


class Shim:
    """IPython where there is none: found last, when nobody else has it."""

    def __init__(self, driver):
        self.driver = driver

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "IPython" or self.driver.has_ipython():
            return None
        import importlib.machinery
        shim = need("shim")
        return importlib.machinery.ModuleSpec(name, self, is_package=name in shim.PACKAGES) if name in shim.MODULES else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        need("shim").fill(module, self.driver)


class Driver:
    def __init__(self, fd):
        self.pid = os.getpid()
        self.channel = streams.Channel(fd)
        self.interruptible = streams.Interruptible()
        self.output = streams.Output(self.channel, self.interruptible)
        self.requests = []
        self.there = threading.Condition()
        self.count = 0
        self.errors = 0  # that this run has told
        self.loop = None
        self.cells = {}  # what was run, for tracebacks
        self.shown = []  # figures that this run has shown already
        self.real = None   # IPython, embedded
        self.own = None    # what is there for it, where there is none
        self.embedding = False
        self.refused = False  # IPython was there and could not be embedded
        module = types.ModuleType("__main__")
        module.__builtins__ = builtins
        sys.modules["__main__"] = module
        self.space = module.__dict__
        self.ins, self.outs, self.last = [""], {}, ["", "", ""]
        self.space.update(In=self.ins, Out=self.outs, _ih=self.ins, _oh=self.outs, _="", __="", ___="")
        self.hidden = frozenset(("In", "Out", "get_ipython", "exit", "quit", "open"))

    # Requests

    def read_requests(self):
        data = b""
        while True:
            piece = os.read(self.channel.fd, 1 << 16)
            if not piece:
                os._exit(0)  # there is nobody any more who could ask
            data += piece
            if b"\n" not in piece:
                continue
            *lines, data = data.split(b"\n")
            for line in lines:
                if line:
                    self.take(line.decode("utf-8", "replace").split("\x1e"))

    def take(self, fields):
        fields = [re.sub(r"\\(\\|n|0036)", lambda m: {"\\": "\\", "n": "\n", "0036": "\x1e"}[m.group(1)], f) for f in fields]
        if fields[0] == "interrupt" and len(fields) == 2:
            self.interrupt(int(fields[1]))
            return
        if fields[0] == "sync":
            self.interrupt(self.interruptible.run)
        with self.there:
            self.requests.append(fields)
            self.there.notify()

    def interrupt(self, run):
        if run == 0 or run != self.interruptible.run:
            return
        self.interruptible.meant = run
        os.killpg(os.getpgrp(), signal.SIGINT) if os.getpgrp() == os.getpid() else os.kill(os.getpid(), signal.SIGINT)

    def serve(self):
        while True:
            with self.there:
                while not self.requests:
                    self.there.wait()
                fields = self.requests.pop(0)
            if fields[0] == "run" and len(fields) >= 3:
                self.run(int(fields[1]), fields[2], fields[3:])
            elif fields[0] == "env":
                os.environ.update(dict(f.split("=", 1) for f in fields[1:]))
            elif fields[0] == "sync" and len(fields) == 2:
                self.channel.send({"type": "synced", "token": fields[1], "count": self.count})

    # One run

    def run(self, number, code, environment):
        self.count += 1
        self.shown = []
        self.output.told = 0
        refresh_paths()
        saved = {}
        for assignment in environment:
            name, _, value = assignment.partition("=")
            saved[name] = os.environ.get(name)
            os.environ[name] = value
        try:
            self.interruptible.run = number
            try:
                self.evaluate(code)
            except BaseException as error:  # whatever it is: the next one shall find us here
                self.interruptible.meant = 0
                self.fail(error)
        except KeyboardInterrupt:
            pass
        self.finish(number, saved)

    def finish(self, number, saved):
        with self.shield():
            if os.getpid() != self.pid:
                os._exit(0)  # a child that code has forked and that came back from it
            self.output.flush()
            for name, value in saved.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
            self.interruptible.run = 0
            self.interruptible.meant = 0
            self.interruptible.waiting = False
            self.channel.send({"type": "end_of_execution", "run": number})

    def shield(self):
        return self.interruptible

    def evaluate(self, code):
        try:
            if not self.real and self.is_for_shell(code) and not is_python(COMMAND.sub(r"\1pass", code)):
                self.embed()
            if self.real:
                self.real.run(code)
                return
            self.remember_input(code)
            value = self.execute(code)
            if value is not None and not is_quiet(code):
                self.remember(value)
                self.show(value, main=True)
        finally:
            self.show_figures()

    def is_for_shell(self, code):
        """Whether Python alone does not understand it, and IPython may."""
        if SHELL_MARKS.search(code) and not is_python(code):
            return True
        word = AUTOMAGIC.match(code)
        return bool(word) and word.group(1) not in self.space

    def execute(self, code):
        filename = "<cell %d>" % self.count
        code = dedent(code)
        if self.is_for_shell(code):
            code = need("magics").transformed(code, filename, self.space, callee="__cove_shell__")
        self.cells[filename] = (len(code), None, [line + "\n" for line in code.split("\n")], filename)
        if "linecache" in sys.modules:
            self.take_linecache(sys.modules["linecache"])
        tree = compile(code, filename, "exec", FLAGS, dont_inherit=True)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        if tree.body:
            self.step(compile(tree, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True))
        return self.step(compile(last, filename, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)) if last else None

    def step(self, code):
        if not code.co_flags & 0x80:  # CO_COROUTINE: it awaits
            return eval(code, self.space)
        return self.complete(eval(code, self.space))

    def complete(self, coroutine):
        import asyncio
        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(coroutine)
        try:
            return self.loop.run_until_complete(task)
        except KeyboardInterrupt:
            task.cancel()
            try:
                self.loop.run_until_complete(task)
            except BaseException:
                pass
            raise

    def fail(self, error):
        if os.getpid() != self.pid:
            import traceback
            traceback.print_exception(type(error), error, error.__traceback__)
            os._exit(error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1)
        if type(error).__name__ == "UsageError":
            text = "UsageError: %s" % error
            print(text, file=sys.stderr)
        else:
            try:
                text = "\n".join(need("errors").describe_error(error))
            except Exception:
                text = type(error).__name__
        self.tell_error(type(error).__name__, error, text)

    def tell_error(self, name, error, text):
        try:
            value = str(error)
        except Exception:
            value = "<no text>"
        with self.shield():
            self.output.flush()
            self.errors += 1
            if self.interruptible.run and os.getpid() == self.pid:
                self.channel.send({"type": "error", "run": self.interruptible.run, "name": name, "value": value, "traceback": text})

    # IPython

    def has_ipython(self):
        """Whether the template has it, not whether it is loaded."""
        if self.refused:
            return False
        if self.real or getattr(sys.modules.get("IPython"), "__path__", None):
            return True
        import importlib.machinery
        return importlib.machinery.PathFinder.find_spec("IPython") is not None

    def embed(self):
        """With all that it takes, once. Where there is none, nothing happens."""
        if self.real or self.embedding or os.getpid() != self.pid or not self.has_ipython():
            return
        self.embedding = True
        for name in [n for n, m in sys.modules.items() if isinstance(getattr(m, "__loader__", None), Shim)]:
            del sys.modules[name]  # it was installed since
        try:
            self.real = need("ipython").Embedded(self)
        except Exception as error:  # whatever its version is: the cell runs without it
            self.refused = True
            builtins.display, builtins.get_ipython = self.display, self.get_ipython
            print("IPython cannot be embedded (%s: %s); cove's own magics are used" % (type(error).__name__, error), file=sys.stderr)
        finally:
            self.embedding = False

    def get_ipython(self):
        self.embed()
        return self.real.shell if self.real else self.own_shell()

    def own_shell(self):
        """Enough for !commands, which are not worth an IPython: it takes a quarter of a second and 30 MB."""
        if self.own is None:
            self.own = need("magics").ZMQInteractiveShell(self)
        return self.own

    def shell_program(self):
        return "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"

    def system(self, command):
        import subprocess
        self.output.flush()
        done = subprocess.run([self.shell_program(), "-c", command], stdin=subprocess.DEVNULL)
        refresh_paths()
        self.space["_exit_code"] = done.returncode
        self.output.flush()

    def remember_input(self, code):
        while len(self.ins) < self.count:
            self.ins.append("")
        self.ins.append(code)
        self.space.update({"_iii": self.space.get("_ii", ""), "_ii": self.space.get("_i", ""), "_i": self.ins[-2], "_i%d" % self.count: code})

    def remember(self, value):
        """Out, and the last three, unless the user has a _ of his own."""
        mine = all(self.space.get("_" * n) is self.last[n - 1] for n in (1, 2, 3))
        self.last = [value, *self.last[:2]]
        if mine:
            self.space.update(zip(("_", "__", "___"), self.last))
        self.outs[self.count] = self.space["_%d" % self.count] = value

    # Results

    def show(self, value, main=False):
        if self.real:  # since this cell began
            bundle = self.real.shell.display_formatter.format(value)[0]
        elif results.shows_itself(value):
            return
        else:
            bundle = results.bundle_of(value)
        if is_a(value, "matplotlib.figure", "Figure"):
            self.shown.append(value)
        if bundle:
            self.send_bundle(bundle, main)

    def send_bundle(self, bundle, main=False):
        if self.own is not None and self.own.capturing is not None:
            self.own.capturing.append(bundle)
            return
        event = results.event_of(bundle, main)
        with self.shield():
            self.output.flush()
            if self.interruptible.run:
                event["run"] = self.interruptible.run
                self.channel.send(event)

    def display(self, *values, raw=False, display_id=None, **options):
        """Ours; IPython puts its own in this place when it comes."""
        for value in values:
            if self.output.child:
                print(repr(value))
            elif self.real:
                self.real.display(value, raw=raw, **options)
            elif raw and isinstance(value, dict):
                self.send_bundle(value)
            else:
                self.show(value)
        return need("shim").DisplayHandle(self.display, None if display_id is True else display_id) if display_id else None

    def show_figures(self):
        """Those that are open: shown, unless they have been, and closed, as a window would be."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not hasattr(pyplot, "get_fignums") or os.getpid() != self.pid:
            return
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if not any(figure is s for s in self.shown):
                self.display(figure)
        pyplot.close("all")

    # Modules

    def take_pyplot(self, pyplot):
        pyplot.show = lambda *_, **__: self.show_figures()
        pyplot.switch_backend("Agg")
        pyplot.Figure.show = lambda figure, *_, **__: self.display(figure)

    def take_images(self, module):
        module.Image.show = lambda image, *_, **__: self.display(image)
        save = module.Image.save

        def shown_save(image, fp, *args, **options):
            if isinstance(fp, (str, os.PathLike)):
                self.display(image)
            return save(image, fp, *args, **options)
        module.Image.save = shown_save

    def take_plotly(self, module):
        """It asks for nbformat as a sign that figures can be shown, and uses nothing of it."""
        if getattr(module, "nbformat", module) is None:
            module.nbformat = types.SimpleNamespace(__version__="5.0.0")

    def take_linecache(self, module):
        module.cache.update(self.cells)
        self.cells.clear()

    def take_ipython(self, module):
        if threading.current_thread() is threading.main_thread() and getattr(module, "__file__", None):
            self.embed()

    def install(self):
        hooks = {"matplotlib.pyplot": self.take_pyplot, "PIL.Image": self.take_images, "IPython": self.take_ipython, "linecache": self.take_linecache,
                 "plotly.io._renderers": self.take_plotly}
        os.environ.setdefault("MPLBACKEND", "Agg")
        rc = "/usr/share/matplotlib/mpl-data/matplotlibrc"
        if os.path.exists(rc) and not os.path.exists("/etc/matplotlibrc"):  # where Debian's looks, and what a template may not have
            os.environ.setdefault("MATPLOTLIBRC", rc)
        sys.stdout, sys.stderr = streams.Stream(self.output, 0), streams.Stream(self.output, 1)
        sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
        builtins.input, builtins.display, builtins.get_ipython = no_input, self.display, self.get_ipython
        builtins.__cove_shell__ = self.own_shell
        sys.argv = [""]
        if "" not in sys.path:
            sys.path.insert(0, "")
        signal.signal(signal.SIGINT, self.interruptible.handler)
        os.register_at_fork(after_in_child=self.in_child)
        for name, hook in hooks.items():
            if name in sys.modules:
                hook(sys.modules[name])
        sys.meta_path.insert(0, Hooks(hooks))
        sys.meta_path.append(Shim(self))

    def in_child(self):
        self.output.in_child()
        self.interruptible.run = 0
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            os.close(self.channel.fd)
        except OSError:
            pass


def serve(fd):
    os.set_inheritable(fd, False)
    driver = Driver(fd)
    driver.install()
    threading.Thread(target=driver.read_requests, daemon=True, name="cove-requests").start()
    threading.Thread(target=driver.output.serve, daemon=True, name="cove-output").start()
    driver.channel.send({"type": "ready"})
    driver.serve()
