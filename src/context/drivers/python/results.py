"""results.py: a value as what it can be shown as, by MIME type, and that as an event.

Also IPython's own formatters are given the two types that only E2B has (ipython.py): data, a table's columns, and chart, what a figure shows.
"""

import contextlib
import io
import json
import sys

plain = need("streams").plain

WIDTH = 79
DATA, CHART = "e2b/data", "e2b/chart"
METHODS = (
    ("_repr_html_", "text/html"), ("_repr_markdown_", "text/markdown"), ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"), ("_repr_jpeg_", "image/jpeg"), ("_repr_pdf_", "application/pdf"),
    ("_repr_latex_", "text/latex"), ("_repr_json_", "application/json"), ("_repr_javascript_", "application/javascript"),
)
FIELDS = {
    "text/plain": "text", "text/html": "html", "text/markdown": "markdown", "image/svg+xml": "svg", "image/png": "png",
    "image/jpeg": "jpeg", "application/pdf": "pdf", "text/latex": "latex", "application/json": "json",
    "application/javascript": "javascript", DATA: "data", CHART: "chart",
}
BINARY = ("image/png", "image/jpeg", "application/pdf")
ANY = ("application/json", DATA, CHART)  # all others are text


def as_text(mime, value):
    if isinstance(value, (bytes, bytearray)):
        import base64
        if mime.startswith("text/") or mime == "image/svg+xml":
            return value.decode("utf-8", "replace")
        return base64.b64encode(value).decode()
    if isinstance(value, str) and mime in BINARY:
        return value.replace("\n", "")  # some of IPython's break it into lines
    return value


def pretty_container(value):
    import pprint

    class Printer(pprint.PrettyPrinter):
        """A long text within stays in one piece."""
        _dispatch = {k: v for k, v in pprint.PrettyPrinter._dispatch.items() if k not in (str.__repr__, bytes.__repr__)}
    return Printer(width=WIDTH, compact=False, sort_dicts=False).pformat(value)


def name_of(kind):
    return kind.__qualname__ if kind.__module__ == "builtins" else "%s.%s" % (kind.__module__, kind.__qualname__)


def pretty_function(value):
    import inspect
    try:
        return "<function %s%s>" % (name_of(value), inspect.signature(value))
    except (TypeError, ValueError):
        return repr(value)


class Printer:
    """What _repr_pretty_() of an object writes to, in one line."""

    def __init__(self):
        self.pieces = []

    def text(self, piece):
        self.pieces.append(piece)

    def pretty(self, value):
        self.pieces.append(pretty(value))

    def breakable(self, sep=" "):
        self.pieces.append(sep)

    def break_(self):
        self.pieces.append("\n")

    def begin_group(self, indent=0, open=""):
        self.pieces.append(open)

    def end_group(self, dedent=0, close=""):
        self.pieces.append(close)

    @contextlib.contextmanager
    def group(self, indent=0, open="", close=""):
        self.pieces.append(open)
        yield
        self.pieces.append(close)

    def indent(self, indent):
        return self.group(indent)


def pretty_by_itself(value):
    printer = Printer()
    try:
        value._repr_pretty_(printer, False)
    except Exception:
        return repr(value)
    return "".join(printer.pieces)


def pretty(value):
    """As IPython writes it."""
    kind = type(value)
    if callable(getattr(kind, "_repr_pretty_", None)):
        return pretty_by_itself(value)
    if kind.__repr__ is object.__repr__:
        return "<%s at 0x%x>" % (name_of(kind), id(value))
    if kind is type:
        return name_of(value)
    if kind is type(pretty):
        return pretty_function(value)
    if kind in (set, frozenset) and value:
        try:
            text = "{%s}" % ", ".join(repr(v) for v in sorted(value))
        except TypeError:
            return repr(value)
        text = text if kind is set else "frozenset(%s)" % text
    else:
        text = repr(value)
    if len(text) <= WIDTH or kind not in (list, dict, tuple, set, frozenset):
        return text
    return pretty_container(value)


def is_a(value, module, name):
    """Whether it is one of a class of a module, which is not loaded for the question."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None) if loaded else None
    return isinstance(kind, type) and isinstance(value, kind)


def figure_png(figure):
    data = io.BytesIO()
    figure.savefig(data, format="png", bbox_inches="tight")
    return data.getvalue()


def data_of(value):
    """Columns of a table, as lists; None: it is no table."""
    if not is_a(value, "pandas", "DataFrame"):
        return None
    return {str(name): plain(list(values)) for name, values in value.to_dict(orient="list").items()}


def chart_of(value):
    if not is_a(value, "matplotlib.figure", "Figure"):
        return None
    try:
        return need("charts").chart_of(value)
    except Exception:
        return None


def json_of(value):
    if not isinstance(value, (list, dict)):
        return None
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None


def put(bundle, mime, value):
    if value is not None and mime not in bundle:
        bundle[mime] = value


def ask_methods(value, bundle):
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
        put(bundle, mime, got[0] if isinstance(got, tuple) else got)


def bundle_of(value):
    bundle = {}
    if not isinstance(value, type):
        ask_methods(value, bundle)
    put(bundle, DATA, data_of(value))
    put(bundle, CHART, chart_of(value))
    put(bundle, "application/json", json_of(value))
    if is_a(value, "matplotlib.figure", "Figure"):
        bundle["image/png"] = figure_png(value)
    put(bundle, "text/plain", pretty(value) if "text/plain" not in bundle else None)
    return bundle


def shows_itself(value):
    """By _ipython_display_(), which is called then."""
    show = None if isinstance(value, type) else getattr(value, "_ipython_display_", None)
    if not callable(show) or callable(getattr(value, "_ipython_canary_method_should_not_exist_", None)):
        return False
    try:
        show()
    except NotImplementedError:
        return False
    return True


def event_of(bundle, main):
    event = {"type": "result", "extra": {}, "is_main_result": main}
    for mime, content in bundle.items():
        content = as_text(mime, content)
        if mime not in FIELDS:
            event["extra"][mime] = plain(content)
        else:
            event[FIELDS[mime]] = content if mime in ANY else str(content)
    text = event.get("text")
    if text and len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        event["text"] = text[1:-1]
    return event
