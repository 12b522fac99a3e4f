"""Code that keeps its state: e2b-code-interpreter."""

import base64

from e2b import InvalidArgumentException, NotFoundException, TimeoutException

from . import equal, raises

RICH = """
class Rich:
    def _repr_html_(self): return '<b>x</b>'
    def _repr_markdown_(self): return '**x**'
    def _repr_latex_(self): return '$x$'
    def _repr_svg_(self): return '<svg/>'
    def _repr_json_(self): return {'x': 1}
Rich()
"""

CHART = """
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [4, 5, 6], label='line')
plt.title('T'); plt.xlabel('X'); plt.ylabel('Y')
plt.show()
"""


async def before(kind, at):
    at.sandbox = await kind(kind.Sandbox.create(timeout=600))
    at.run = at.sandbox.run_code


async def after(kind, at):
    await kind(at.sandbox.kill())


async def a_value(kind, at):
    equal((await kind(at.run("x = 20\nx + 1"))).text, "21")
    equal((await kind(at.run("x"))).text, "20")


async def output_and_results_as_they_come(kind, at):
    out, err, results = [], [], []
    done = await kind(at.run("import sys\nprint('a'); print('b', file=sys.stderr); print('c')\n5", on_stdout=lambda m: out.append(m.line),
                             on_stderr=lambda m: err.append(m.line), on_result=results.append))
    equal(("".join(done.logs.stdout), "".join(done.logs.stderr)), ("a\nc\n", "b\n"))
    equal(("".join(out), "".join(err), [r.text for r in results]), ("a\nc\n", "b\n", ["5"]))
    assert done.execution_count >= 1


async def an_error(kind, at):
    errors = []
    done = await kind(at.run("def f():\n    return 1 / 0\nf()", on_error=errors.append))
    equal((done.error.name, done.error.value, errors[0].name), ("ZeroDivisionError", "division by zero", "ZeroDivisionError"))
    assert "line 2" in done.error.traceback, done.error.traceback


async def results_of_many_kinds(kind, at):
    main = (await kind(at.run(RICH))).results[0]
    equal((main.html, main.markdown, main.latex, main.svg, main.json), ("<b>x</b>", "**x**", "$x$", "<svg/>", {"x": 1}))
    assert {"html", "markdown", "latex", "svg", "json"} <= set(main.formats()), main.formats()


async def charts(kind, at):
    done = await kind(at.run(CHART))
    equal(done.error, None)
    equal(base64.b64decode(done.results[0].png)[1:4], b"PNG")
    chart = done.results[0].chart
    equal((chart.type.value, chart.title, chart.x_label, chart.y_label), ("line", "T", "X", "Y"))
    equal([tuple(p) for p in chart.elements[0].points], [(1, 4), (2, 5), (3, 6)])


async def tables(kind, at):
    main = (await kind(at.run("import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})"))).results[0]
    equal(main.data, {"a": [1, 2], "b": ["x", "y"]})
    assert "<table" in main.html, main.html


async def languages(kind, at):
    equal("".join((await kind(at.run("V=kept; echo one", language="bash"))).logs.stdout), "one\n")
    equal("".join((await kind(at.run("echo $V", language="bash"))).logs.stdout), "kept\n")
    equal((await kind(at.run("const y = 6; y * 7", language="js"))).text, "42")
    with raises(NotFoundException, "There is no language 'cobol': use python"):
        await kind(at.run("1", language="cobol"))


async def contexts(kind, at):
    context = await kind(at.sandbox.create_code_context(cwd="/tmp", language="python"))
    equal(context.cwd, "/tmp")
    await kind(at.run("here = 1", context=context))
    equal((await kind(at.run("import os; os.getcwd()", context=context))).text, "/tmp")
    equal((await kind(at.run("here"))).error.name, "NameError")
    assert context.id in [c.id for c in await kind(at.sandbox.list_code_contexts())]
    await kind(at.sandbox.restart_code_context(context))
    equal((await kind(at.run("here", context=context))).error.name, "NameError")
    await kind(at.sandbox.remove_code_context(context))
    assert context.id not in [c.id for c in await kind(at.sandbox.list_code_contexts())]
    with raises(NotFoundException):
        await kind(at.run("1", context=context))
    with raises(InvalidArgumentException):
        await kind(at.run("1", context=context, language="python"))


async def environment_of_one_run(kind, at):
    equal((await kind(at.run("import os; os.environ['ONCE']", envs={"ONCE": "now"}))).text, "now")
    equal((await kind(at.run("os.environ.get('ONCE', 'gone')"))).text, "gone")


async def a_timeout_interrupts(kind, at):
    with raises(TimeoutException):
        await kind(at.run("import time\ntime.sleep(120)", timeout=2))
    equal((await kind(at.run("1 + 1", timeout=60))).text, "2")
