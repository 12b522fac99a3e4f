"""python.py: Python that stays. The driver of contexts of that language.

Comes over the channel, after which serve(fd) never returns; context/internal.h has what is said there. Also the child of a
zygote calls serve(), with whatever modules are loaded already.

What code prints through sys.stdout is told as it is printed; what its subprocesses print comes through pipes in the place
of descriptors 1 and 2, and is told in the order in which it was written. Code runs in the main thread; another one reads
requests, so that an interruption finds its way; a third one reads the pipes.
"""

import ast
import builtins
import codecs
import io
import json
import os
import re
import select
import signal
import sys
import threading
import time
import types

LINE_MAX = 30 << 20
PIECE_MAX = 1 << 20
SINGLE_MAX = 100     # prints of a run that are told one by one; those after them may be put together
LAZY_SECONDS = 0.05  # how long a text without a newline may wait
TRACEBACK_LINES = 2  # around the one that failed


def plain(value):
    """Whatever JSON cannot say, as what it can."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):  # numpy's
        return plain(value.tolist())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


class Interruptible:
    """SIGINT is KeyboardInterrupt for the code that was meant, and for nobody else; never in the middle of our own work."""

    def __init__(self):
        self.run = 0      # what runs; 0: nothing
        self.meant = 0    # which one is to be interrupted
        self.shielded = 0
        self.waiting = False

    def handler(self, number, frame):
        if self.run == 0 or self.meant != self.run:
            return
        if self.shielded:
            self.waiting = True
            return
        self.meant = 0
        raise KeyboardInterrupt

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            self.shielded += 1

    def __exit__(self, *_):
        if threading.current_thread() is not threading.main_thread():
            return
        self.shielded -= 1
        if self.shielded == 0 and self.waiting:
            self.waiting = False
            if self.run and self.meant == self.run:
                self.meant = 0
                raise KeyboardInterrupt


class Channel:
    def __init__(self, fd):
        self.fd = fd
        self.lock = threading.RLock()

    def send(self, event):
        try:
            text = json.dumps(event, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError):
            text = json.dumps(plain(event), ensure_ascii=False)
        data = text.encode("utf-8", "replace") + b"\n"
        if len(data) > LINE_MAX:
            data = json.dumps({"type": "stderr", "run": event.get("run"),
                               "text": "a result of %d bytes was left out: it is too large\n" % len(data)}).encode() + b"\n"
        with self.lock:
            view = memoryview(data)
            while view:
                view = view[os.write(self.fd, view):]


class Output:
    """Both streams: what is printed, and what comes through the pipes."""

    def __init__(self, channel, interruptible):
        self.channel = channel
        self.interruptible = interruptible
        self.lock = threading.RLock()
        self.names = ("stdout", "stderr")
        self.texts = [[], []]
        self.lazy = False  # something waits for the other thread
        self.last = 0.0
        self.told = 0
        self.originals = [os.dup(1), os.dup(2)]
        self.pipes = []
        self.decoders = []
        for fd in (1, 2):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            os.dup2(writer, fd, inheritable=True)
            os.close(writer)
            self.pipes.append(reader)
            self.decoders.append(codecs.getincrementaldecoder("utf-8")("replace"))
        self.wake_reader, self.wake_writer = os.pipe()
        os.set_blocking(self.wake_writer, False)
        self.child = False

    def tell(self, which, text):
        run = self.interruptible.run
        if not run:
            os.write(self.originals[which], text.encode("utf-8", "replace"))
            return
        self.told += 1
        for at in range(0, len(text), PIECE_MAX):
            self.channel.send({"type": self.names[which], "run": run, "text": text[at:at + PIECE_MAX]})

    def flush_text(self, which):
        if self.texts[which]:
            text = "".join(self.texts[which])
            self.texts[which] = []
            self.tell(which, text)

    def drain(self):
        for which, fd in enumerate(self.pipes):
            while True:
                try:
                    data = os.read(fd, 65536)
                except BlockingIOError:
                    break
                if not data:
                    break
                text = self.decoders[which].decode(data)
                if text:
                    self.flush_text(which)
                    self.tell(which, text)

    def flush(self):
        with self.interruptible, self.lock:
            self.drain()
            for which in (0, 1):
                self.flush_text(which)

    def write(self, which, text):
        if self.child:
            data = memoryview(text.encode("utf-8", "replace"))
            while data:
                data = data[os.write(which + 1, data):]
            return
        with self.interruptible, self.lock:
            self.drain()
            self.flush_text(1 - which)
            self.texts[which].append(text)
            now = time.monotonic()
            if text.endswith("\n") and (self.told < SINGLE_MAX or now - self.last > LAZY_SECONDS or len(self.texts[which]) > 1000):
                self.last = now
                self.flush_text(which)
            elif not self.lazy:
                self.lazy = True
                os.write(self.wake_writer, b".")

    def serve(self):
        """The other thread."""
        poll = select.poll()
        for fd in self.pipes + [self.wake_reader]:
            poll.register(fd, select.POLLIN)
        while True:
            ready = [fd for fd, _ in poll.poll()]
            if self.wake_reader in ready:
                os.read(self.wake_reader, 64)
                time.sleep(LAZY_SECONDS)
            with self.lock:
                self.lazy = False
                self.drain()
                for which in (0, 1):
                    self.flush_text(which)

    def in_child(self):
        self.child = True
        self.lock = threading.RLock()
        self.texts = [[], []]


class Stream(io.TextIOBase):
    encoding = "utf-8"
    errors = "replace"

    def __init__(self, output, which):
        self.output = output
        self.which = which
        self.name = "<%s>" % output.names[which]
        self.buffer = Bytes(self)

    def writable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return self.which + 1

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not %s" % type(text).__name__)
        if text:
            self.output.write(self.which, text)
        return len(text)

    def flush(self):
        if not self.output.child:
            self.output.flush()


class Bytes(io.RawIOBase):
    """sys.stdout.buffer"""

    def __init__(self, stream):
        self.stream = stream
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        self.stream.write(self.decoder.decode(data))
        return len(data)

    def flush(self):
        self.stream.flush()


class StdinNotImplementedError(NotImplementedError):
    pass


class UsageError(Exception):
    pass


def no_input(prompt="", *_):
    raise StdinNotImplementedError("input() cannot be answered here: there is nobody who could")


# Results

METHODS = (
    ("_repr_html_", "text/html"), ("_repr_markdown_", "text/markdown"), ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"), ("_repr_jpeg_", "image/jpeg"), ("_repr_pdf_", "application/pdf"),
    ("_repr_latex_", "text/latex"), ("_repr_json_", "application/json"), ("_repr_javascript_", "application/javascript"),
)
FIELDS = {
    "text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg", "image/png": "png",
    "image/jpeg": "jpeg", "application/pdf": "pdf", "text/latex": "latex", "application/json": "json",
    "application/javascript": "javascript",
}


def as_text(mime, value):
    if isinstance(value, (bytes, bytearray)):
        import base64
        if mime.startswith("text/") or mime == "image/svg+xml":
            return value.decode("utf-8", "replace")
        return base64.b64encode(value).decode()
    return value


def pretty(value):
    text = repr(value)
    if len(text) <= 79 or type(value) not in (list, dict, tuple, set, frozenset):
        return text
    import pprint
    return pprint.pformat(value, width=79, compact=False, sort_dicts=False)


def is_a(value, module, name):
    """Whether it is one of a class of a module, which is not loaded for the question."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None) if loaded else None
    return isinstance(kind, type) and isinstance(value, kind)


def figure_png(figure):
    import base64
    data = io.BytesIO()
    figure.savefig(data, format="png", bbox_inches="tight")
    return base64.b64encode(data.getvalue()).decode()


def frame_data(frame):
    """Columns of a table, as lists."""
    return {str(name): plain(list(values)) for name, values in frame.to_dict(orient="list").items()}


def bundle_of(value):
    bundle, special = {}, {}
    if not isinstance(value, type):
        whole = getattr(value, "_repr_mimebundle_", None)
        if callable(whole):
            try:
                got = whole(include=None, exclude=None)
            except Exception:
                got = None
            bundle.update((got[0] if isinstance(got, tuple) else got) or {})
        for method, mime in METHODS:
            if mime in bundle or not callable(getattr(value, method, None)):
                continue
            try:
                got = getattr(value, method)()
            except Exception:
                continue
            got = got[0] if isinstance(got, tuple) else got
            if got is not None:
                bundle[mime] = got
    if is_a(value, "pandas", "DataFrame"):
        special["data"] = frame_data(value)
    elif is_a(value, "matplotlib.figure", "Figure"):
        bundle["image/png"] = figure_png(value)
        try:
            chart = chart_of(value)
        except Exception:
            chart = None
        if chart:
            special["chart"] = chart
    elif isinstance(value, (list, dict)) and "application/json" not in bundle:
        try:
            bundle["application/json"] = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            pass
    if "text/plain" not in bundle:
        bundle["text/plain"] = pretty(value)
    return bundle, special


def result_of(value, main, raw=None):
    bundle, special = (raw, {}) if raw is not None else bundle_of(value)
    event = {"type": "result", "extra": {}, "is_main_result": main}
    for mime, content in bundle.items():
        content = as_text(mime, content)
        if mime in FIELDS:
            event[FIELDS[mime]] = content if mime == "application/json" else str(content)
        else:
            event["extra"][mime] = plain(content)
    text = event.get("text")
    if text and len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        event["text"] = text[1:-1]
    event.update(special)
    return event


# Charts of matplotlib

def label_or_none(text):
    return text or None


def unit_of(label):
    found = re.search(r"\s\(([^)]*)\)|\[([^\]]*)\]", label or "")
    return (found.group(1) or found.group(2) or None) if found else None


def is_straight(line):
    """Two points, level or upright: what grids and reference lines are made of."""
    x, y = line.get_xdata(), line.get_ydata()
    return len(x) == 2 and len(y) == 2 and bool(x[0] == x[1] or y[0] == y[1])


def kind_of(axes):
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch, Rectangle, Wedge
    from matplotlib.text import Text
    artists = [a for a in axes._children if not isinstance(a, Text)]
    if all(isinstance(a, Line2D) for a in artists):
        return "line"
    if all(isinstance(a, (Line2D, PathPatch)) for a in artists):
        return "box_and_whisker"
    artists = [a for a in artists if not (isinstance(a, Line2D) and is_straight(a))]
    for kind, cls in (("scatter", PathCollection), ("pie", Wedge), ("bar", Rectangle)):
        if all(isinstance(a, cls) for a in artists):
            return kind
    return "unknown"


def is_dates(axis):
    import matplotlib.dates
    converter = axis.get_converter() if hasattr(axis, "get_converter") else axis.converter
    return isinstance(converter, (matplotlib.dates._SwitchableDateConverter, matplotlib.dates.DateConverter))


def ticks_of(axis):
    if is_dates(axis):
        import matplotlib.dates
        return [matplotlib.dates.num2date(t).isoformat() for t in axis.get_ticklocs()]
    return plain(list(axis.get_ticklocs()))


def scale_of(axis, scale, ticks, labels):
    if is_dates(axis):
        return "datetime"
    if scale != "linear":
        return scale
    counted = all(t == i and label != str(i) for i, (t, label) in enumerate(zip(ticks, labels)))
    return "categorical" if counted else "linear"


def point_value(value):
    if type(value).__name__ == "datetime64":
        return str(value.astype("datetime64[s]"))
    return plain(value)


def points_of(xs, ys):
    return [[point_value(x), point_value(y)] for x, y in zip(xs, ys)]


def describe_points(axes, chart, kind):
    for name, axis, scale in (("x", axes.xaxis, axes.get_xscale()), ("y", axes.yaxis, axes.get_yscale())):
        labels = [t.get_text() for t in axis.get_ticklabels()]
        ticks = ticks_of(axis)
        chart[name + "_ticks"] = ticks
        chart[name + "_tick_labels"] = labels
        chart[name + "_scale"] = scale_of(axis, scale, ticks, labels)
    if kind == "scatter":
        for group in axes.collections:
            offsets = group.get_offsets()
            chart["elements"].append({"label": str(group.get_label()), "points": plain([list(p) for p in offsets])})
        return
    for line in axes.get_lines():
        if is_straight(line):
            continue
        label = str(line.get_label())
        if label.startswith("_child"):
            label = "Line " + label[len("_child"):]
        chart["elements"].append({"label": label, "points": points_of(line.get_xdata(), line.get_ydata())})


def swap_axes(chart):
    for what in ("_label", "_unit"):
        chart["x" + what], chart["y" + what] = chart["y" + what], chart["x" + what]


def describe_bars(axes, chart):
    for group in axes.containers:
        name = str(group.get_label())
        if name.startswith("_container"):
            name = "Group " + name[len("_container"):]
        heights = [float(r.get_height()) for r in group]
        widths = [float(r.get_width()) for r in group]
        lying = len(heights) > 1 and len(set(heights)) == 1 and len(set(widths)) > 1
        lying = lying or getattr(group, "orientation", None) == "horizontal"
        if lying:
            swap_axes(chart)
        labels = [t.get_text() for t in (axes.get_yticklabels() if lying else axes.get_xticklabels())]
        for label, value in zip(labels, widths if lying else heights):
            chart["elements"].append({"label": label, "group": name, "value": value})


def describe_pie(axes, chart):
    for wedge in axes.patches:
        angle = round(abs(float(wedge.theta2) - float(wedge.theta1)), 4)
        chart["elements"].append({"label": str(wedge.get_label()), "angle": angle, "radius": float(wedge.r)})


def near(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def tidy(value):
    return float("%.9g" % float(value))


def boxes_of(axes):
    """Extent of each box along the axis of its position, and along that of its values."""
    boxes = []
    for patch in axes.patches:
        corners = patch.get_path().vertices
        xs, ys = [float(v[0]) for v in corners], [float(v[1]) for v in corners]
        boxes.append(((min(xs), max(xs)), (min(ys), max(ys))))
    return boxes


def describe_boxes(axes, chart):
    boxes = boxes_of(axes)
    if not boxes:
        return
    lying = len({round(b[1][1] - b[1][0], 9) for b in boxes}) == 1 and len({round(b[0][1] - b[0][0], 9) for b in boxes}) > 1
    if lying:
        swap_axes(chart)
        boxes = [(y, x) for x, y in boxes]
    labels = [t.get_text() for t in (axes.get_yticklabels() if lying else axes.get_xticklabels())]
    elements = []
    for (label, (place, values)) in zip(labels, boxes):
        low, high = values
        elements.append({"place": place, "label": label, "min": low, "first_quartile": low, "median": low,
                         "third_quartile": high, "max": high, "outliers": []})
    for line in axes.lines:
        at, values = [float(v) for v in line.get_xdata()], [float(v) for v in line.get_ydata()]
        if lying:
            at, values = values, at
        if at:
            place_line(line, at, values, elements)
    for element in elements:
        del element["place"]
        for key in ("min", "first_quartile", "median", "third_quartile", "max"):
            element[key] = tidy(element[key])
        chart["elements"].append(element)


def place_line(line, at, values, elements):
    """A line of a box plot: points beyond, the median across, or a whisker along."""
    for element in elements:
        left, right = element["place"]
        if not (left - 1e-9 <= min(at) and max(at) <= right + 1e-9):
            continue
        low, high = element["first_quartile"], element["third_quartile"]
        if line.get_linestyle() in ("None", "", " ") or len(values) == 1:
            element["outliers"] += [tidy(v) for v in values]
        elif len(values) == 2 and near(values[0], values[1]) and low <= values[0] <= high and near(max(at) - min(at), right - left):
            element["median"] = values[0]
        elif len(values) == 2 and near(at[0], at[1]) and near(max(values), low):
            element["min"] = min(values)
        elif len(values) == 2 and near(at[0], at[1]) and near(min(values), high):
            element["max"] = max(values)
        return


def chart_of_axes(axes):
    kind = kind_of(axes)
    chart = {"type": kind, "title": label_or_none(axes.get_title()), "elements": []}
    if kind in ("line", "scatter", "bar", "box_and_whisker"):
        for name, label in (("x", axes.get_xlabel()), ("y", axes.get_ylabel())):
            chart[name + "_label"] = label_or_none(label)
            chart[name + "_unit"] = unit_of(label)
    if kind in ("line", "scatter"):
        describe_points(axes, chart, kind)
    elif kind == "bar":
        describe_bars(axes, chart)
    elif kind == "pie":
        describe_pie(axes, chart)
    elif kind == "box_and_whisker":
        describe_boxes(axes, chart)
    return chart


def chart_of(figure):
    all_axes = figure.get_axes()
    if not any(a.has_data() for a in all_axes):
        return None
    if len(all_axes) == 1:
        return chart_of_axes(all_axes[0])
    title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) else ""
    return {"type": "superchart", "title": title, "elements": [chart_of_axes(a) for a in all_axes]}


# Magics: lines that are no Python, as calls

LINE_MAGIC = re.compile(r"^(\s*)(?:([\w., ]+?)\s*=\s*)?([!%])(.*)$")
CELL_MAGIC = re.compile(r"^\s*%%(\w+)[ \t]*(.*)\n?")


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


class Magics:
    def __init__(self, driver):
        self.driver = driver

    def expand(self, text):
        space = self.driver.space

        def value(found):
            name = found.group(1) or found.group(2)
            try:
                return str(eval(name, space)) if found.group(2) or name in space else found.group(0)
            except Exception:
                return found.group(0)
        return re.sub(r"\$([A-Za-z_]\w*)|(?<!\$)\{([A-Za-z_][^{}]*)\}", value, text)

    def shell(self, command, capture=False, expand=True):
        import subprocess
        if expand:
            command = self.expand(command)
        program = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
        self.driver.output.flush()
        done = subprocess.run([program, "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if capture else None)
        refresh_paths()
        self.driver.space["_exit_code"] = done.returncode
        self.driver.output.flush()
        return done.stdout.decode("utf-8", "replace").splitlines() if capture else None

    def line(self, kind, text, capture):
        text = text.strip()
        if kind == "!":
            return self.shell(text.lstrip("!"), capture)
        name, _, rest = text.lstrip("%").partition(" ")
        function = getattr(self, "line_" + name, None)
        if not function:
            raise UsageError("Line magic function `%%%s` not found." % name)
        return function(self.expand(rest.strip()))

    def cell(self, name, rest, body):
        function = getattr(self, "cell_" + name, None)
        if not function:
            raise UsageError("Cell magic `%%%%%s` not found." % name)
        return function(rest.strip(), body)

    def line_pip(self, rest):
        self.shell("%s -m pip %s" % (sys.executable, rest), expand=False)

    def line_cd(self, rest):
        os.chdir(os.path.expanduser(rest or "~"))
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
                return os.environ.get(name)
        os.environ[name.strip()] = value.strip()
        print("env: %s=%s" % (name.strip(), value.strip()))
        return None

    line_set_env = line_env

    def line_matplotlib(self, rest):
        return None

    line_load_ext = line_autoreload = line_config = line_reload_ext = line_matplotlib

    def line_time(self, rest):
        return self.cell_time("", rest)

    def line_timeit(self, rest):
        import timeit
        timer = timeit.Timer(rest, globals=self.driver.space)
        n, _ = timer.autorange()
        best = min(timer.repeat(5, n)) / n
        print("%.3g s per loop (best of 5 runs, %d loops each)" % (best, n))

    def line_who(self, rest):
        names = sorted(n for n in self.driver.space if not n.startswith("_"))
        print("\t".join(names) if names else "Interactive namespace is empty.")

    def line_reset(self, rest):
        for name in [n for n in self.driver.space if not n.startswith("__")]:
            del self.driver.space[name]

    def line_run(self, rest):
        import runpy
        self.driver.space.update(runpy.run_path(rest, run_name="__main__"))

    def cell_bash(self, rest, body):
        import subprocess
        self.shell_exit = None
        program = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
        self.driver.output.flush()
        done = subprocess.run([program, "-c", body], stdin=subprocess.DEVNULL)
        self.driver.output.flush()
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, [program])

    cell_sh = cell_bash

    def cell_writefile(self, rest, body):
        words = rest.split()
        mode = "a" if "-a" in words else "w"
        path = os.path.expanduser([w for w in words if w != "-a"][0])
        print(("Appending to %s" if mode == "a" else "Overwriting %s" if os.path.exists(path) else "Writing %s") % path)
        with open(path, mode) as target:
            target.write(body)

    def cell_time(self, rest, body):
        began, cpu = time.monotonic(), time.process_time()
        value = self.driver.execute(body)
        print("CPU times: total: %.3g s\nWall time: %.3g s" % (time.process_time() - cpu, time.monotonic() - began))
        return value

    def cell_capture(self, rest, body):
        import contextlib
        held = io.StringIO()
        with contextlib.redirect_stdout(held), contextlib.redirect_stderr(held):
            self.driver.execute(body)
        if rest:
            self.driver.space[rest.split()[0]] = held.getvalue()

    def cell_html(self, rest, body):
        self.driver.send_result(None, False, {"text/html": body})

    cell_HTML = cell_html

    def cell_markdown(self, rest, body):
        self.driver.send_result(None, False, {"text/markdown": body})

    def cell_javascript(self, rest, body):
        self.driver.send_result(None, False, {"application/javascript": body})

    cell_js = cell_javascript


def dedent(code):
    """As a whole, when its first line is indented."""
    first = next((line for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    space = first[:len(first) - len(first.lstrip())]
    if not space:
        return code
    return "\n".join(line[len(space):] if line.startswith(space) else line for line in code.splitlines()) + "\n"


def replace_magic(lines, at):
    """The line that could not be parsed, as a call; False: it is no magic."""
    for number in (at, at - 1):
        found = LINE_MAGIC.match(lines[number]) if 0 <= number < len(lines) else None
        if not found:
            continue
        indent, target, kind, text = found.groups()
        while text.endswith("\\") and number + 1 < len(lines):  # goes on in the next
            text = text[:-1] + lines[number + 1]
            lines[number + 1] = ""
            number += 1
        first = at if number >= at else number
        call = "__cove_magic__(%r, %r, %r)" % (kind, text, bool(target))
        lines[min(first, number)] = indent + (target + " = " if target else "") + call
        return True
    return False


def parse(code, filename):
    """The code as a tree, with its magics as calls."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    lines = code.split("\n")
    for _ in range(len(lines) + 1):
        try:
            return compile("\n".join(lines), filename, "exec", flags, dont_inherit=True)
        except SyntaxError as error:
            if not replace_magic(lines, (error.lineno or 1) - 1):
                raise
    return compile("\n".join(lines), filename, "exec", flags, dont_inherit=True)


# What is said of a failure

def excerpt(filename, number):
    import linecache
    rows = []
    for at in range(max(1, number - TRACEBACK_LINES), number + TRACEBACK_LINES + 1):
        line = linecache.getline(filename, at)
        if line:
            rows.append("%s%d %s" % ("----> " if at == number else "      ", at, line.rstrip("\n")))
    return rows


def where(frame, number):
    filename, name = frame.f_code.co_filename, frame.f_code.co_name
    cell = re.match(r"<cell (\d+)>$", filename)
    place = "Cell In[%s], line %d" % (cell.group(1), number) if cell else "File %s:%d" % (filename, number)
    return place if name == "<module>" else "%s, in %s()" % (place, name)


def describe_frames(tb, own):
    rows = []
    while tb:
        if tb.tb_frame.f_code.co_filename != own:
            rows += [where(tb.tb_frame, tb.tb_lineno)] + excerpt(tb.tb_frame.f_code.co_filename, tb.tb_lineno) + [""]
        tb = tb.tb_next
    return rows


def describe_error(error, own, seen=()):
    import traceback
    name = type(error).__name__
    rows = []
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and before not in seen:
        rows += describe_error(before, own, seen + (error,))
        rows += ["", "The above exception was the direct cause of the following exception:" if error.__cause__
                 else "During handling of the above exception, another exception occurred:", ""]
    if isinstance(error, SyntaxError):
        text = "".join(traceback.format_exception_only(type(error), error)).rstrip("\n")
        return rows + [re.sub(r'File "<cell (\d+)>"', r"Cell In[\1]", text)]
    rows += ["-" * 75, "%s%s" % (name.ljust(75 - 33), "Traceback (most recent call last)".rjust(33))]
    rows += describe_frames(error.__traceback__, own)
    rows.append("".join(traceback.format_exception_only(type(error), error)).rstrip("\n"))
    return rows


# Modules that are told of us when they are loaded

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
    """IPython.display where there is no IPython: found last, when nobody else has it."""

    def __init__(self, driver):
        self.driver = driver

    def find_spec(self, name, path=None, target=None):
        if name not in ("IPython", "IPython.display", "IPython.core", "IPython.core.display"):
            return None
        import importlib.machinery
        return importlib.machinery.ModuleSpec(name, self, is_package=name in ("IPython", "IPython.core"))

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.display = self.driver.display
        if module.__name__ in ("IPython", "IPython.core"):
            module.get_ipython = lambda: None
            return
        module.clear_output = lambda wait=False: None
        for name, mime in (("HTML", "text/html"), ("Markdown", "text/markdown"), ("Latex", "text/latex"), ("Math", "text/latex"),
                           ("SVG", "image/svg+xml"), ("JSON", "application/json"), ("Javascript", "application/javascript")):
            setattr(module, name, shown_class(name, mime))
        module.Image = shown_image


def shown_class(name, mime):
    def __init__(self, data=None, url=None, filename=None, **_):
        if data is None and filename:
            with open(filename, encoding="utf-8") as source:
                data = source.read()
        self.data = data

    def bundle(self, include=None, exclude=None):
        return {mime: self.data, "text/plain": repr(self)}

    return type(name, (), {"__init__": __init__, "_repr_mimebundle_": bundle, "__repr__": lambda self: "<IPython.core.display.%s object>" % name})


class shown_image:
    def __init__(self, data=None, url=None, filename=None, format=None, **_):
        if data is None and filename:
            with open(filename, "rb") as source:
                data = source.read()
        elif isinstance(data, str) and os.path.exists(data):
            with open(data, "rb") as source:
                data = source.read()
        self.data = data or b""

    def __repr__(self):
        return "<IPython.core.display.Image object>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        mime = "image/jpeg" if bytes(self.data[:2]) == b"\xff\xd8" else "image/png"
        return {mime: self.data, "text/plain": repr(self)}


class Driver:
    def __init__(self, fd):
        self.pid = os.getpid()
        self.channel = Channel(fd)
        self.interruptible = Interruptible()
        self.output = Output(self.channel, self.interruptible)
        self.magics = Magics(self)
        self.requests = []
        self.there = threading.Condition()
        self.count = 0
        self.loop = None
        self.cells = {}  # what was run, for tracebacks
        self.shown = []  # figures that this run has shown already
        self.own = serve.__code__.co_filename
        module = types.ModuleType("__main__")
        module.__builtins__ = builtins
        sys.modules["__main__"] = module
        self.space = module.__dict__
        self.space["__cove_magic__"] = self.magics.line
        self.space["display"] = self.display

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
            value = self.execute(code)
            if value is not None and not code.rstrip().endswith(";"):
                self.space["_"] = value
                if is_a(value, "matplotlib.figure", "Figure"):
                    self.shown.append(value)
                self.send_result(value, True)
        finally:
            self.show_figures()

    def execute(self, code):
        filename = "<cell %d>" % self.count
        found = CELL_MAGIC.match(code)
        if found:
            return self.magics.cell(found.group(1), found.group(2), code[found.end():])
        code = dedent(code)
        self.cells[filename] = (len(code), None, [line + "\n" for line in code.split("\n")], filename)
        if "linecache" in sys.modules:
            self.take_linecache(sys.modules["linecache"])
        tree = parse(code, filename)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        if tree.body:
            self.step(compile(tree, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True))
        return self.step(compile(last, filename, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)) if last else None

    def step(self, code):
        if not code.co_flags & 0x80:  # CO_COROUTINE: it awaits
            return eval(code, self.space)
        import asyncio
        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(eval(code, self.space))
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
        try:
            rows = describe_error(error, self.own)
        except Exception:
            rows = [type(error).__name__]
        try:
            value = str(error)
        except Exception:
            value = "<no text>"
        with self.shield():
            self.output.flush()
            self.channel.send({"type": "error", "run": self.interruptible.run, "name": type(error).__name__, "value": value,
                               "traceback": "\n".join(rows)})

    # Results

    def send_result(self, value, main, raw=None):
        event = result_of(value, main, raw)
        with self.shield():
            self.output.flush()
            if self.interruptible.run:
                event["run"] = self.interruptible.run
                self.channel.send(event)

    def display(self, *values, raw=False, **_):
        for value in values:
            if self.output.child:
                print(repr(value))
            elif raw and isinstance(value, dict):
                self.send_result(None, False, value)
            else:
                if is_a(value, "matplotlib.figure", "Figure"):
                    self.shown.append(value)
                self.send_result(value, False)

    def show_figures(self):
        """Those that are open: shown, unless they have been, and closed, as a window would be."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not hasattr(pyplot, "get_fignums") or os.getpid() != self.pid:
            return
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if not any(figure is s for s in self.shown):
                self.send_result(figure, False)
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

    def take_linecache(self, module):
        module.cache.update(self.cells)
        self.cells.clear()

    def take_display(self, module):
        module.display = self.display

    def install(self):
        hooks = {"matplotlib.pyplot": self.take_pyplot, "PIL.Image": self.take_images,
                 "IPython.core.display_functions": self.take_display, "linecache": self.take_linecache}
        os.environ.setdefault("MPLBACKEND", "Agg")
        rc = "/usr/share/matplotlib/mpl-data/matplotlibrc"
        if os.path.exists(rc) and not os.path.exists("/etc/matplotlibrc"):  # where Debian's looks, and what a template may not have
            os.environ.setdefault("MATPLOTLIBRC", rc)
        for name, hook in hooks.items():
            if name in sys.modules:
                hook(sys.modules[name])
        sys.meta_path.insert(0, Hooks(hooks))
        sys.meta_path.append(Shim(self))
        sys.stdout, sys.stderr = Stream(self.output, 0), Stream(self.output, 1)
        sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
        builtins.input = no_input
        builtins.display = self.display
        sys.argv = [""]
        if "" not in sys.path:
            sys.path.insert(0, "")
        signal.signal(signal.SIGINT, self.interruptible.handler)
        os.register_at_fork(after_in_child=self.in_child)

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
