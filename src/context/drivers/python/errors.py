"""errors.py: what is said of a failure where IPython does not say it."""

import linecache
import re
import traceback

LINES_AROUND = 2
OWN = "<cove"  # our own files' names begin so


def excerpt(filename, number):
    rows = []
    for at in range(max(1, number - LINES_AROUND), number + LINES_AROUND + 1):
        line = linecache.getline(filename, at)
        if line:
            rows.append("%s%d %s" % ("----> " if at == number else "      ", at, line.rstrip("\n")))
    return rows


def where(frame, number):
    filename, name = frame.f_code.co_filename, frame.f_code.co_name
    cell = re.match(r"<cell (\d+)>$", filename)
    place = "Cell In[%s], line %d" % (cell.group(1), number) if cell else "File %s:%d" % (filename, number)
    return place if name == "<module>" else "%s, in %s()" % (place, name)


def describe_frames(tb):
    rows = []
    while tb:
        if not tb.tb_frame.f_code.co_filename.startswith(OWN):
            rows += [where(tb.tb_frame, tb.tb_lineno)] + excerpt(tb.tb_frame.f_code.co_filename, tb.tb_lineno) + [""]
        tb = tb.tb_next
    return rows


def describe_error(error, seen=()):
    name = type(error).__name__
    rows = []
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and before not in seen:
        rows += describe_error(before, seen + (error,))
        rows += ["", "The above exception was the direct cause of the following exception:" if error.__cause__
                 else "During handling of the above exception, another exception occurred:", ""]
    if isinstance(error, SyntaxError):
        text = "".join(traceback.format_exception_only(type(error), error)).rstrip("\n")
        return rows + [re.sub(r'File "<cell (\d+)>"', r"Cell In[\1]", text)]
    rows += ["-" * 75, "%s%s" % (name.ljust(75 - 33), "Traceback (most recent call last)".rjust(33))]
    rows += describe_frames(error.__traceback__)
    rows.append("".join(traceback.format_exception_only(type(error), error)).rstrip("\n"))
    return rows
