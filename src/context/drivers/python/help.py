"""help.py: obj? and obj?? where there is no IPython."""

import inspect

LABEL_WIDTH = 11


def found(shell, name):
    """(whether there is one, what)"""
    if name.startswith("%"):
        function = shell.find_magic(name.lstrip("%"), "cell" if name.startswith("%%") else "line")
        return function is not None, function
    try:
        return True, eval(name, shell.user_ns)
    except Exception:
        return False, None


def rows_of(value, source):
    yield "Signature", signature(value)
    yield "Type" if not callable(value) else None, type(value).__name__
    if not callable(value):
        text = str(value)
        yield "String form", text if len(text) < 200 else text[:200] + "…"
        yield "Length", str(len(value)) if hasattr(type(value), "__len__") else None
    code = ask(inspect.getsource, value) if source else None
    yield "Source", code and "\n" + code.rstrip("\n")
    if not code:
        yield "Docstring", inspect.getdoc(value) or "<no docstring>"
    yield "File", ask(inspect.getfile, value)
    yield "Type" if callable(value) else None, type(value).__name__


def ask(question, value):
    try:
        return question(value)
    except (TypeError, OSError, ValueError):
        return None


def signature(value):
    found = ask(inspect.signature, value) if callable(value) else None
    return None if found is None else getattr(value, "__name__", "") + str(found)


def describe(shell, name, source):
    there, value = found(shell, name.strip())
    if not there:
        print("Object `%s` not found." % name.strip())
        return
    for label, text in rows_of(value, source):
        if label and text is not None:
            print((label + ":").ljust(LABEL_WIDTH) + text if not text.startswith("\n") and "\n" not in text else "%s:%s%s" % (label, "" if text.startswith("\n") else "\n", text))
