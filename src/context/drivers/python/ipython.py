"""ipython.py: the IPython that a template has, embedded: its own shell runs the cells, and what it shows goes where ours goes.

Loaded by the first cell that needs it, because it takes a quarter of a second: one that is no Python by itself (%magic, obj?; !commands alone need none), that asks
for get_ipython(), or that imports IPython, also by way of a library. The namespace is the one that was there before, with In, Out and _.
"""

import sys
import warnings

import IPython
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import BaseFormatter, JSONFormatter
from IPython.core.interactiveshell import InteractiveShell
from traitlets import ObjectName, Type, Unicode
from traitlets.config import Config

results = need("results")


class CoveDisplayHook(DisplayHook):
    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self.shell.driver.send_bundle(format_dict, main=True)

    def finish_displayhook(self):
        pass


class CoveDisplayPublisher(DisplayPublisher):
    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **_):
        if not update:  # what was told cannot be changed
            self.shell.driver.send_bundle(data)

    def clear_output(self, wait=False):
        pass


class DataFormatter(BaseFormatter):
    format_type = Unicode(results.DATA)
    print_method = ObjectName("_repr_e2b_data_")
    _return_type = (dict, str)

    def __call__(self, value):
        return results.data_of(value) or super().__call__(value)


class ChartFormatter(BaseFormatter):
    format_type = Unicode(results.CHART)
    print_method = ObjectName("_repr_e2b_chart_")
    _return_type = (dict, str)

    def __call__(self, value):
        if results.is_a(value, "matplotlib.figure", "Figure"):  # whoever shows it comes along here
            ZMQInteractiveShell.driver.shown.append(value)
        return results.chart_of(value) or super().__call__(value)


class PlainJSONFormatter(JSONFormatter):
    def __call__(self, value):
        found = results.json_of(value)
        return super().__call__(value) if found is None else found


class ZMQInteractiveShell(InteractiveShell):
    """Libraries know by this name that more than text can be shown; a shell of any other one is a terminal to them."""

    displayhook_class = Type(CoveDisplayHook)
    display_pub_class = Type(CoveDisplayPublisher)
    driver = None
    kernel = None  # asked for by some

    def init_display_formatter(self):
        super().init_display_formatter()
        formatters = self.display_formatter.formatters
        for kind in (DataFormatter, ChartFormatter, PlainJSONFormatter):
            made = kind(parent=self.display_formatter)
            formatters[made.format_type] = made
        formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", results.figure_png)

    def init_alias(self):
        super().init_alias()
        for alias in ("ls", "ll", "lf", "lk", "ldir", "lx"):
            command = self.alias_manager.retrieve_alias(alias)
            self.alias_manager.define_alias(alias, command.replace(" --color", ""))

    def init_hooks(self):
        super().init_hooks()
        self.set_hook("show_in_pager", lambda shell, text, *_, **__: print(text["text/plain"] if isinstance(text, dict) else text), 0)

    def init_virtualenv(self):
        pass  # it would warn of what a user cannot change

    def system(self, command):
        self.driver.system(self.var_expand(command, depth=1))

    system_raw = system_piped = system

    def _showtraceback(self, etype, evalue, stb):
        self.driver.tell_error(etype.__name__, evalue, "\n".join(stb))

    def show_usage_error(self, exc):
        super().show_usage_error(exc)
        self.driver.tell_error(type(exc).__name__, exc, "%s: %s" % (type(exc).__name__, exc))

    def enable_gui(self, gui=None):
        pass

    def enable_matplotlib(self, gui=None):
        """There is no window that it could open."""
        return super().enable_matplotlib("inline")

    def ask_exit(self):
        raise SystemExit


def configuration():
    config = Config()
    config.InteractiveShell.colors = "NoColor"
    config.HistoryManager.enabled = False  # of this context only, in memory
    config.PlainTextFormatter.max_seq_length = 0
    return config


def take_history(shell, driver):
    """What was run before, as if it had run here."""
    manager, hook, space = shell.history_manager, shell.displayhook, driver.space
    manager.input_hist_parsed[:] = driver.ins
    manager.input_hist_raw[:] = driver.ins
    manager.output_hist.update(driver.outs)
    driver.ins, driver.outs = manager.input_hist_parsed, manager.output_hist
    hook._, hook.__, hook.___ = driver.last
    space.update(_=hook._, __=hook.__, ___=hook.___)


class Embedded:
    def __init__(self, driver):
        self.driver = driver
        before = {name: driver.space.get(name) for name in ("_i", "_ii", "_iii")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of directories that cannot be written
            ZMQInteractiveShell.driver = driver
            self.shell = ZMQInteractiveShell.instance(user_module=sys.modules["__main__"], config=configuration())
        warnings.filterwarnings("ignore", message="To exit: use")
        self.shell.loop_runner = driver.complete
        take_history(self.shell, driver)
        driver.space.update({name: text for name, text in before.items() if text is not None})
        self.shell.execution_count = driver.count

    def run(self, code):
        ins = self.shell.history_manager.input_hist_parsed
        while len(ins) < self.driver.count:
            ins.append("")
            self.shell.history_manager.input_hist_raw.append("")
        self.shell.execution_count = self.driver.count
        self.driver.errors = 0
        result = self.shell.run_cell(code, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if error is not None and not self.driver.errors:
            self.driver.fail(error)
        hook = self.shell.displayhook
        self.driver.last = [hook._, hook.__, hook.___]

    def display(self, *values, **options):
        return IPython.display.display(*values, **options)
