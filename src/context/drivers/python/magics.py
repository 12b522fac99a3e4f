"""magics.py: what IPython understands and Python does not, where there is no IPython: %magics, !commands, obj?, get_ipython().

Lines that are no Python become calls of get_ipython(), as IPython makes them: run_line_magic, run_cell_magic, system, getoutput.
"""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import time

LINE_MAGIC = re.compile(r"^(\s*)(?:([\w., ]+?)\s*=\s*)?([!%])(.*)$")
CELL_MAGIC = re.compile(r"^\s*%%(\w+|!)[ \t]*([^\n]*)\n?")
HELP = re.compile(r"^\s*(?:(\?\??)\s*([\w.%]+)|([\w.%]+)\s*(\?\??))\s*$")
WORD = re.compile(r"^\s*(\w+)(?:[ \t]+([^=\n][^\n]*))?\s*$")
FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
ALIASES = {"ls": "ls -F", "ll": "ls -F -l", "lf": "ls -F -o", "lk": "ls -F -o", "ldir": "ls -F -l", "lx": "ls -F -l", "cat": "cat",
           "mkdir": "mkdir", "rmdir": "rmdir", "mv": "mv", "rm": "rm", "cp": "cp", "man": "man"}
UNITS = ("s", "ms", "µs", "ns")


class UsageError(Exception):
    pass


# Lines that are no Python, as calls

def call_of(name, *arguments, callee="get_ipython"):
    return "%s().%s(%s)" % (callee, name, ", ".join(repr(a) for a in arguments))


def line_call(text):
    name, _, rest = text.lstrip("%").strip().partition(" ")
    return call_of("run_line_magic", name, rest.strip())


def replace_help(lines, number):
    found = HELP.match(lines[number])
    if not found:
        return False
    marks, name = found.group(1) or found.group(4), found.group(2) or found.group(3)
    lines[number] = call_of("run_line_magic", "pinfo" if len(marks) == 1 else "pinfo2", name)
    return True


def replace_magic(lines, at, callee):
    """The line that could not be parsed, as a call; False: it is no magic."""
    for number in (at, at - 1):
        if not 0 <= number < len(lines):
            continue
        if replace_help(lines, number):
            return True
        found = LINE_MAGIC.match(lines[number])
        if not found:
            continue
        indent, target, kind, text = found.groups()
        first = number
        while text.endswith("\\") and number + 1 < len(lines):  # goes on in the next
            text = text[:-1] + lines[number + 1]
            lines[number + 1] = ""
            number += 1
        if kind == "%":
            call = line_call(text)
        else:
            call = call_of("getoutput" if target or text.startswith("!") else "system", text.lstrip("!").strip(), callee=callee)
        lines[first] = indent + (target + " = " if target else "") + call
        return True
    return False


def transformed(code, filename, space, callee="get_ipython"):
    """Python that does the same. callee gives the shell that commands are run by."""
    cell = CELL_MAGIC.match(code)
    if cell:
        body = code[cell.end():]
        return call_of("run_cell_magic", cell.group(1), cell.group(2).strip(), body if body.endswith("\n") else body + "\n")
    word = WORD.match(code)
    if word and is_automagic(word.group(1), space):
        return call_of("run_line_magic", word.group(1), word.group(2) or "")
    lines = code.split("\n")
    for _ in range(len(lines) + 1):
        try:
            compile("\n".join(lines), filename, "exec", FLAGS, dont_inherit=True)
            break
        except SyntaxError as error:
            if not replace_magic(lines, (error.lineno or 1) - 1, callee):
                break
    return "\n".join(lines)


def is_automagic(name, space):
    import builtins
    return name not in space and not hasattr(builtins, name) and (name in ALIASES or hasattr(ZMQInteractiveShell, "line_" + name))


# What they do

class Lines(list):
    """What a command has printed."""
    l = list = property(lambda self: self)
    n = nlstr = property(lambda self: "\n".join(self))
    s = spstr = property(lambda self: " ".join(self))


class Captured:
    def __init__(self):
        self.streams = (io.StringIO(), io.StringIO())
        self.outputs = []

    stdout = property(lambda self: self.streams[0].getvalue())
    stderr = property(lambda self: self.streams[1].getvalue())

    def __str__(self):
        return self.stdout

    def show(self):
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)
        for bundle in self.outputs:
            display(bundle, raw=True)

    __call__ = show


def with_unit(seconds, digits=3):
    unit = 0
    while unit < 3 and abs(seconds) < 1 and seconds:
        seconds *= 1000
        unit += 1
    if not seconds:
        unit = 3
    return "%.*g %s" % (digits, seconds, UNITS[unit])


def timing_options(rest):
    """-n and -r of %timeit, -q and -o, and the statement behind them."""
    options = {"n": 0, "r": 7, "q": False, "o": False}
    while True:
        found = re.match(r"-([nr])\s*(\d+)\s*|-([qo])(?:\s+|$)", rest)
        if not found:
            return options, rest
        if found.group(1):
            options[found.group(1)] = int(found.group(2))
        else:
            options[found.group(3)] = True
        rest = rest[found.end():]


def path_of(rest):
    found = re.match(r"""^(["'])(.*)\1$""", rest)
    return os.path.expanduser(found.group(2) if found else rest)


class ZMQInteractiveShell:
    """get_ipython(), as far as code asks for it. Libraries know by its name that more than text can be shown."""

    banner, colors, config, kernel = "", "NoColor", {}, None

    def __init__(self, driver):
        self.driver = driver
        self.user_ns = self.user_global_ns = driver.space
        self.visited = [os.getcwd()]
        self.added = {"line": {}, "cell": {}}
        self.capturing = None

    execution_count = property(lambda self: self.driver.count)

    def get_ipython(self):
        return self

    def push(self, variables, interactive=True):
        self.user_ns.update(variables)

    def ev(self, expression):
        return eval(expression, self.user_ns)

    def ex(self, code):
        exec(code, self.user_ns)

    def run_cell(self, code, *_, **__):
        value = self.driver.execute(code)
        if value is not None:
            self.driver.show(value, main=True)

    def register_magic_function(self, function, magic_kind="line", magic_name=None):
        for kind in ("line", "cell") if magic_kind == "line_cell" else (magic_kind,):
            self.added[kind][magic_name or function.__name__] = function

    def find_magic(self, name, kind="line"):
        if kind == "line" and name in ALIASES:
            return lambda rest: self.system("%s %s" % (ALIASES[name], rest))
        return self.added[kind].get(name) or getattr(self, "%s_%s" % (kind, name), None)

    find_line_magic = find_magic

    def find_cell_magic(self, name):
        return self.find_magic(name, "cell")

    def run_line_magic(self, name, rest="", _stack_depth=1):
        function = self.find_magic(name)
        if not function:
            hint = ""
            if self.find_magic(name, "cell"):
                hint = " (But cell magic `%%%%%s` exists, did you mean that instead?)" % name
            raise UsageError("Line magic function `%%%s` not found%s." % (name, hint))
        return function(rest if name in ("timeit", "time") else self.expand(rest, sys._getframe(_stack_depth)))

    def run_cell_magic(self, name, rest, body):
        function = self.find_magic(name, "cell")
        if not function:
            hint = ""
            if self.find_magic(name):
                hint = " (But line magic `%%%s` exists, did you mean that instead?)" % name
            raise UsageError("Cell magic `%%%%%s` not found%s." % (name, hint))
        return function(self.expand(rest, sys._getframe(1)), body)

    def magic(self, text):
        name, _, rest = text.lstrip("%").partition(" ")
        return self.run_line_magic(name, rest.strip(), _stack_depth=2)

    # Commands

    def expand(self, text, frame):
        space = {**self.user_ns, **frame.f_locals} if frame.f_locals is not self.user_ns else self.user_ns

        def value(found):
            name = found.group(1) or found.group(2)
            try:
                return str(eval(name, space)) if found.group(2) or name in space else found.group(0)
            except Exception:
                return found.group(0)
        return re.sub(r"\$([A-Za-z_]\w*)|(?<!\$)\{([A-Za-z_][^{}]*)\}", value, text)

    def system(self, command):
        self.driver.system(self.expand(command, sys._getframe(1)))

    system_raw = system_piped = system

    def getoutput(self, command, split=True, depth=0):
        done = subprocess.run([self.driver.shell_program(), "-c", self.expand(command, sys._getframe(depth + 1))], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.user_ns["_exit_code"] = done.returncode
        text = done.stdout.decode("utf-8", "replace")
        return Lines(text.splitlines()) if split else text

    def line_sx(self, rest):
        return self.getoutput(rest)

    line_system = line_sx

    def line_pip(self, rest):
        self.driver.system("%s -m pip %s" % (sys.executable, rest))

    def line_cd(self, rest):
        rest = rest.replace("-q", "").strip() if rest.startswith("-q") else rest
        target = self.visited[-2] if rest == "-" and len(self.visited) > 1 else path_of(rest or "~")
        os.chdir(target)
        self.visited.append(os.getcwd())
        print(os.getcwd())

    def line_pwd(self, rest):
        return os.getcwd()

    def line_env(self, rest):
        if not rest:
            return dict(os.environ)
        name, sign, value = rest.partition("=")
        if not sign:
            name, _, value = rest.partition(" ")
            if not value:
                if name not in os.environ:
                    raise UsageError("Environment does not have key: %s" % name)
                return os.environ[name]
        os.environ[name.strip()] = value.strip()
        print("env: %s=%s" % (name.strip(), value.strip()))
        return None

    line_set_env = line_env

    # Nothing to set up: figures are shown anyway

    def line_matplotlib(self, rest):
        return None

    line_load_ext = line_autoreload = line_config = line_reload_ext = line_xmode = line_colors = line_pylab = line_matplotlib

    # Times

    def line_time(self, rest):
        return self.cell_time("", rest)

    def cell_time(self, rest, body):
        before, began = os.times(), time.perf_counter()
        try:
            return self.driver.execute(body)
        finally:
            after, wall = os.times(), time.perf_counter() - began
            user, system = after.user - before.user, after.system - before.system
            print("CPU times: user %s, sys: %s, total: %s\nWall time: %s" % (with_unit(user), with_unit(system), with_unit(user + system), with_unit(wall)))

    def line_timeit(self, rest):
        options, statement = timing_options(rest)
        return self.timed(options, statement, "pass")

    def cell_timeit(self, rest, body):
        options, setup = timing_options(rest)
        return self.timed(options, body, setup or "pass")

    def timed(self, options, statement, setup):
        import timeit
        timer = timeit.Timer(statement, setup, globals=self.user_ns)
        n = options["n"] or timer.autorange()[0]
        runs = [t / n for t in timer.repeat(options["r"], n)]
        mean = sum(runs) / len(runs)
        spread = (sum((t - mean) ** 2 for t in runs) / len(runs)) ** 0.5
        if not options["q"]:
            print("%s ± %s per loop (mean ± std. dev. of %d run%s, %s loop%s each)" % (
                with_unit(mean), with_unit(spread), len(runs), "s" if len(runs) != 1 else "", format(n, ","), "s" if n != 1 else ""))
        return runs if options["o"] else None

    # Names

    def names(self):
        return sorted(n for n in self.user_ns if not n.startswith("_") and n not in self.driver.hidden)

    def line_who(self, rest):
        names = self.names()
        if not names:
            print("Interactive namespace is empty.")
            return
        print("".join(name + "\t " for name in names))

    def line_who_ls(self, rest):
        return self.names()

    def line_whos(self, rest):
        rows = [("Variable", "Type", "Data/Info")] + [(n, type(self.user_ns[n]).__name__, repr(self.user_ns[n])[:60]) for n in self.names()]
        widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
        rows.insert(1, ("-" * (sum(widths) + 15),))
        print("\n".join("   ".join(cell.ljust(w) for cell, w in zip(row, (*widths, 0))) for row in rows))

    def line_reset(self, rest):
        for name in self.names():
            del self.user_ns[name]

    line_reset_selective = line_reset

    def line_lsmagic(self, rest):
        for kind, mark in (("line", "%"), ("cell", "%%")):
            names = [n.partition("_")[2] for n in dir(self) if n.startswith(kind + "_")] + list(self.added[kind]) + (list(ALIASES) if kind == "line" else [])
            print("Available %s magics:\n%s\n" % (kind, "  ".join(mark + n for n in sorted(names))))

    def line_history(self, rest):
        print("\n".join(self.driver.ins[1:]))

    line_hist = line_history

    def line_run(self, rest):
        import runpy
        import shlex
        words = [w for w in shlex.split(rest) if w != "-i"]
        before, sys.argv = sys.argv, words
        try:
            self.user_ns.update(runpy.run_path(os.path.expanduser(words[0]), run_name="__main__"))
        finally:
            sys.argv = before

    def line_pinfo(self, rest):
        need("help").describe(self, rest, source=False)

    def line_pinfo2(self, rest):
        need("help").describe(self, rest, source=True)

    # Cells

    def cell_bash(self, rest, body, program=None):
        program = program or self.driver.shell_program()
        self.driver.output.flush()
        done = subprocess.run([program, "-c", body], stdin=subprocess.DEVNULL)
        self.driver.output.flush()
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, body.encode())

    def cell_sh(self, rest, body):
        self.cell_bash(rest, body, "/bin/sh")

    def cell_system(self, rest, body):
        return self.getoutput(body)

    cell_sx = cell_system

    def cell_writefile(self, rest, body):
        words = rest.split()
        append = "-a" in words or "--append" in words
        path = path_of(" ".join(w for w in words if w not in ("-a", "--append")))
        if not path:
            raise UsageError("the following arguments are required: filename")
        print(("Appending to %s" if append else "Overwriting %s" if os.path.exists(path) else "Writing %s") % path)
        with open(path, "a" if append else "w", encoding="utf-8") as target:
            target.write(body)

    cell_file = cell_writefile

    def cell_capture(self, rest, body):
        name = next((w for w in rest.split() if not w.startswith("-")), None)
        captured, before = Captured(), self.capturing
        self.capturing = captured.outputs
        try:
            with contextlib.redirect_stdout(captured.streams[0]), contextlib.redirect_stderr(captured.streams[1]):
                value = self.driver.execute(body)
                if value is not None:
                    self.driver.show(value)
        finally:
            self.capturing = before
            if name:
                self.user_ns[name] = captured

    def shows(mime, name):
        def cell(self, rest, body):
            self.driver.send_bundle({mime: body, "text/plain": "<IPython.core.display.%s object>" % name})
        return cell

    cell_html = cell_HTML = shows("text/html", "HTML")
    cell_markdown = shows("text/markdown", "Markdown")
    cell_latex = shows("text/latex", "Latex")
    cell_svg = cell_SVG = shows("image/svg+xml", "SVG")
    cell_javascript = cell_js = shows("application/javascript", "Javascript")
    del shows
