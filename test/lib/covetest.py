#!/usr/bin/python3
"""covetest: what every black-box suite shares.

A suite is a Python file that defines TestCase classes and ends with `covetest.main()`:

    class Exit(covetest.TestCase):
        def test_code(self):
            result = covetest.run(["run", "--", "sh", "-c", "exit 3"], report=True)
            self.assertEqual(result.rc, 3)
            self.assertEqual(result.report["reason"], "exited")

It prints failing tests, skipped tests and one closing line; with --verbose, all of them. Names given on the command
line select tests (a part of the name, or a pattern with * and ?). A skip needs a reason and a cure (`covetest.skip`)
and is a failure when CI=true. After the last test the host must hold nothing that it did not hold before the first.

A test waits for what it wants to see (`wait_for`), never for a time. Where nothing must happen, it says for how long it
looks (`nothing_happens_for`); where an interval is part of the subject, it says so (`pause`).

`covetest.py snapshot FILE` and `covetest.py compare FILE` make the same check around anything else.
Standard library only, Python 3.11.
"""

import atexit
import ctypes
import fnmatch
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import late  # noqa: E402
from hoststate import HostState, read, reap_orphans  # noqa: E402

REPO = Path(__file__).resolve().parents[2]
IN_CI = os.environ.get("CI") == "true"
TEARDOWN_SECONDS = 30.0

PR_SET_CHILD_SUBREAPER = 36

if os.environ.get("COVE_TEST_LATE"):
    late.begin(int(os.environ["COVE_TEST_LATE"]))


def cove_path():
    """The program under test; COVE_BIN overrides."""
    return Path(os.environ.get("COVE_BIN", REPO / "build/bin/cove"))


_public = None


def public_path():
    """The program where every user can reach it, beside the others: a copy where the tree is in a directory that only its owner may enter."""
    global _public
    beside = cove_path().resolve().parent
    if all(path.stat().st_mode & stat.S_IXOTH for path in (beside, *beside.parents)):
        return cove_path()
    if not _public:
        _public = make_temporary_directory("programs")
        for program in beside.iterdir():
            shutil.copy(program, _public)
    return _public / "cove"


# Running cove

class Result:
    """How one run of cove ended. stdout and stderr are bytes."""

    def __init__(self, argv, rc, stdout, stderr, wall_s, report_path=None):
        self.argv, self.rc, self.stdout, self.stderr, self.wall_s = argv, rc, stdout, stderr, wall_s
        self._report_text = None
        if report_path is not None and report_path.exists():
            self._report_text = report_path.read_bytes()

    @property
    def report(self):
        """The parsed --report; a missing or malformed one fails the test."""
        if not self._report_text:
            raise AssertionError(f"no report was written\n{self}")
        try:
            return json.loads(self._report_text)
        except ValueError as error:
            raise AssertionError(f"the report is not JSON ({error}): {self._report_text!r}\n{self}") from None

    def __str__(self):
        command = shorten(" ".join(map(str, self.argv)).encode(), 1200)
        text = f"command: {command}\nstatus: {self.rc} after {self.wall_s:.2f} s"
        for name, data in (("stdout", self.stdout), ("stderr", self.stderr), ("report", self._report_line())):
            if data:
                text += f"\n{name}: {shorten(data)}"
        return text

    def _report_line(self):
        """The report on one line, without the long list of guards that were on."""
        try:
            report = json.loads(self._report_text or b"null")
        except ValueError:
            return self._report_text
        if not isinstance(report, dict):
            return self._report_text
        return json.dumps({key: value for key, value in report.items() if key != "guards"}).encode()


def shorten(data, limit=2000):
    text = data.decode("utf-8", "backslashreplace").rstrip("\n")
    return text if len(text) <= limit else f"{text[:limit // 2]} […] {text[-limit // 2:]}"


def merged_environment(changes):
    """The caller's environment with changes laid over it; a value of None removes the variable."""
    env = dict(os.environ)
    for name, value in (changes or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def popen(args, env=None, **kwargs):
    """Starts cove and does not wait. It is ended with the suite at the latest; TestCase.popen ends it with the test."""
    program = public_path() if kwargs.get("user") else cove_path()
    child = subprocess.Popen([str(program), *map(str, args)], env=merged_environment(env), **kwargs)
    _children.append(child)
    return child


def stop(child, grace=5.0):
    """Ends a child by SIGTERM, then by SIGKILL, and reaps it."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(grace)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream:
            stream.close()
    if child in _children:
        _children.remove(child)


def run(args, stdin=None, timeout=60, env=None, report=False, while_running=None, **kwargs):
    """Runs cove to its end.

    args     without the program's name, the verb first
    stdin    bytes, a file object or a descriptor; None is an empty input
    env      changes to the caller's environment, see merged_environment()
    report   adds --report with a temporary file, read back as Result.report
    while_running   is called with the first line of stdout, before the rest is waited for
    """
    args = [str(arg) for arg in args]
    report_dir = report_path = None
    if report:
        report_dir = make_temporary_directory("report")
        report_path = report_dir / "report.json"
        args[1:1] = ["--report", str(report_path)]

    data = stdin if isinstance(stdin, (bytes, bytearray)) else None
    if data is not None:
        stdin = subprocess.PIPE
    elif stdin is None:
        stdin = subprocess.DEVNULL
    kwargs.setdefault("stdout", subprocess.PIPE)
    kwargs.setdefault("stderr", subprocess.PIPE)

    began = time.monotonic()
    child = popen(args, env=env, stdin=stdin, **kwargs)
    try:
        first = b""
        if while_running:
            first = child.stdout.readline()
            while_running(first)
        stdout, stderr = child.communicate(data, timeout)
        stop(child)
        stdout = first + stdout if first else stdout
        return Result(child.args, child.returncode, stdout, stderr, time.monotonic() - began, report_path)
    except subprocess.TimeoutExpired as expired:
        raise AssertionError(f"cove did not end within {timeout} s: {' '.join(args)}\n"
                             f"stdout: {shorten(expired.stdout or b'')}\n"
                             f"stderr: {shorten(expired.stderr or b'')}") from None
    finally:
        stop(child)
        if report_dir:
            remove_tree(report_dir)


_children = []


# Temporary directories

_directories = set()


def make_temporary_directory(purpose="test"):
    """A directory that guests may look into; removed at the end of the process at the latest."""
    path = Path(tempfile.mkdtemp(prefix=f"covetest-{os.getpid()}-{purpose}-"))
    path.chmod(0o755)
    _directories.add(path)
    return path


def remove_tree(path):
    """Removes a tree, also one in which a test took rights away."""
    for directory, directories, _files in os.walk(path):  # top down: what is opened here is walked next
        for name in directories:
            entry = os.path.join(directory, name)
            if not os.path.islink(entry) and not os.access(entry, os.R_OK | os.W_OK | os.X_OK):
                os.chmod(entry, stat.S_IRWXU)
    shutil.rmtree(path)
    _directories.discard(Path(path))


@atexit.register
def _remove_what_is_left():
    for child in list(_children):
        stop(child)
    for path in list(_directories):
        try:
            remove_tree(path)
        except OSError as error:
            print(f"covetest: cannot remove {path}: {error}", file=sys.stderr)


# Tests

def skip(reason, cure):
    """Leaves the present test out. The cure is what a person does so that it is not left out next time."""
    raise unittest.SkipTest(f"{reason}; cure: {cure}")


def need_direct_io(directory):
    try:
        os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT, 0o600))
    except OSError as error:
        skip(f"no direct I/O in {directory}: {error.strerror}", "mount a disk there")


def is_cached_once(loop):
    """Whether /dev/loopN uses direct I/O: otherwise the kernel caches its file, too, for which it takes the sandbox's memory."""
    return Path(f"/sys/block/{Path(loop).name}/loop/dio").read_text() == "1\n"


def wait_for(condition, seconds=60.0, interval=0.02):
    """Waits until condition() is true and returns what it gave, or its last answer when the time is over.

    The time is a ceiling for machines that do other things as well. Where less of it is given, it is not an error if nothing happens.
    """
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(interval)


def nothing_happens_for(seconds):
    """Gives what must not happen the time to happen. The test then shows that it did not."""
    time.sleep(seconds)


def pause(seconds):
    """An interval that is part of what is tested: the age of something, the pace of a client, a random moment of a storm."""
    time.sleep(seconds)


def has_ended(pid):
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return not fields or fields[0] in (b"Z", b"X")


_held = []


def free_port():
    """A port of 127.0.0.1 on which nobody listens, before a server of the test does. It is bound until the suite ends: nobody else is given it meanwhile."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 0))
    _held.append(s)
    return s.getsockname()[1]


class TestCase(unittest.TestCase):
    """Adds a temporary directory of its own (self.tmp) and children that do not outlive the test."""

    maxDiff = 4000
    title = None  # shown instead of Class.method

    def name(self):
        return self.title or f"{type(self).__name__}.{self._testMethodName}"

    @property
    def tmp(self):
        if not hasattr(self, "_tmp"):
            self._tmp = make_temporary_directory()
            self.addCleanup(remove_tree, self._tmp)
        return self._tmp

    def popen(self, args, **kwargs):
        child = popen(args, **kwargs)
        self.addCleanup(stop, child)
        return child

    def check_no_leak(self, before, seconds=TEARDOWN_SECONDS):
        """Fails when the host holds something of ours that was not in the snapshot."""
        leaks = HostState.diff(before, seconds=seconds)
        if leaks:
            self.fail("left behind on the host:\n" + "\n".join(leaks))


class LeakCheck(TestCase):
    """The last test of every suite."""

    title = "leak check"
    before = None

    def runTest(self):
        if _public in _directories:
            remove_tree(_public)
        self.check_no_leak(self.before)


# The runner

# A test that fails runs once more, only to tell what kind of failure it is: UNSTABLE when it then passes, BROKEN when it does not. It has failed
# in either case. Not for leaks, and not for many.
REPORTS = 0 if os.environ.get("COVE_TEST_AGAIN") == "no" else 5


class QuietResult(unittest.TestResult):
    """Prints what a person must see, as it happens."""

    def __init__(self, verbose):
        super().__init__()
        self.verbose = verbose
        self.n_passed = self.n_failed = self.n_skipped = self.n_again = 0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()
        self.verdict = "ok"

    def stopTest(self, test):
        super().stopTest(test)
        seconds = time.monotonic() - self.began
        if self.verdict == "ok":
            self.n_passed += 1
            if self.verbose:
                print(f"ok   {name_of(test)} ({seconds:.2f} s)", flush=True)
        elif self.verdict == "skip":
            self.n_skipped += 1
        else:
            self.n_failed += 1

    def fail(self, test, text):
        self.verdict = "fail"
        print(f"FAIL {name_of(test)}", flush=True)
        for line in text.rstrip("\n").split("\n"):
            print(f"     {line}", flush=True)

    def addSkip(self, test, reason):
        if "; cure: " not in reason:
            self.fail(test, f"skipped without a cure: {reason}")
        elif IN_CI:
            self.fail(test, f"skipped, which CI does not allow: {reason}")
        else:
            self.verdict = "skip"
            print(f"SKIP {name_of(test)}: {reason}", flush=True)

    def addFailure(self, test, err):
        self.fail(test, explain(err))

    def addError(self, test, err):
        self.fail(test, explain(err))

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.fail(subtest, explain(err))

    def addExpectedFailure(self, test, err):
        self.verdict = "ok"

    def addUnexpectedSuccess(self, test):
        self.fail(test, "passed, although it was marked to fail")


def name_of(test):
    subtest_of = getattr(test, "test_case", None)
    if subtest_of is not None:
        return f"{name_of(subtest_of)} {test._subDescription()}"
    return test.name() if isinstance(test, TestCase) else str(test)


def explain(err):
    """An assertion's message and the line of the test; a full traceback for anything else."""
    kind, error, trace = err
    if not issubclass(kind, AssertionError):
        return "".join(traceback.format_exception(kind, error, trace))
    ours = [frame for frame in traceback.extract_tb(trace)
            if "/unittest/" not in frame.filename and frame.filename != __file__]
    where = ""
    if ours:
        path = os.path.relpath(ours[-1].filename, REPO)
        where = f"\nat {path}:{ours[-1].lineno}: {ours[-1].line}"
    return f"{error}{where}"


def tests_of(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def selected(test, patterns):
    name = name_of(test)
    return not patterns or any(p in name or fnmatch.fnmatchcase(name, p) for p in patterns)


def become_subreaper():
    """Orphans of the programs under test become our children, so that a leaked process is known as ours."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def is_worth_a_report(test, result):
    plain = type(test).__init__ is unittest.TestCase.__init__  # attempts to break out are not tried until they fail
    return result.verdict == "fail" and plain and not isinstance(test, LeakCheck) and result.n_again < REPORTS


def report(test, result):
    """Runs a failed test once more, without any effect on the result."""
    result.n_again += 1
    print(f"AGAIN {name_of(test)}", flush=True)
    again = QuietResult(verbose=False)
    type(test)(test._testMethodName)(again)
    if again.n_failed:
        print(f"BROKEN {name_of(test)}: failed, and failed again", flush=True)
    else:
        print(f"UNSTABLE {name_of(test)}: failed, then passed", flush=True)


def hear_the_end():
    """SIGTERM, and SIGHUP of a terminal that goes, end a suite as Ctrl-C does. The second of them, as from script/test, does not disturb the end."""
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if n == signal.SIGTERM or signal.getsignal(n) != signal.SIG_IGN]  # nohup

    def end(*_):
        for number in numbers:
            signal.signal(number, lambda *_: None)  # a child is not deaf to it
        raise KeyboardInterrupt  # unittest takes any other exception for a failure of the case, and goes on

    for number in numbers:
        signal.signal(number, end)


def main(suite=None, tests=None, argv=None):
    """Runs the tests of the calling script and ends the process.

    suite   the name in the closing line; the script's directory when not given
    tests   an iterable of tests; those of __main__ when not given
    """
    args = list(sys.argv[1:] if argv is None else argv)
    verbose = "--verbose" in args
    listing = "--list" in args
    unknown = [a for a in args if a.startswith("-") and a not in ("--verbose", "--list")]
    patterns = [a for a in args if not a.startswith("-")]
    script = Path(sys.argv[0]).resolve()
    suite = suite or (script.parent.name if script.name == "run" else script.stem)
    if unknown:
        sys.exit(f"{suite}: unknown option {unknown[0]!r}; known: --verbose, --list, and names of tests")

    if tests is None:
        tests = tests_of(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    chosen = [test for test in tests if not isinstance(test, LeakCheck) and selected(test, patterns)]
    if listing:
        for test in chosen:
            print(name_of(test))
        sys.exit(0)
    if not cove_path().exists():
        sys.exit(f"{suite}: there is no {cove_path()}; build it with script/build, or name another one in COVE_BIN")
    if not chosen:
        sys.exit(f"{suite}: no test matches {' '.join(patterns)}")

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born deaf to it, and so would be all that we start
    hear_the_end()
    become_subreaper()
    LeakCheck.before = HostState.take()
    result = QuietResult(verbose)
    try:
        for test in [*chosen, LeakCheck()]:
            test(result)
            if is_worth_a_report(test, result):
                report(test, result)
            reap_orphans(known={child.pid for child in _children})
    except KeyboardInterrupt:
        sys.exit(f"{suite}: stopped")
    print(f"{suite}: {result.n_passed} passed, {result.n_failed} failed, {result.n_skipped} skipped", flush=True)
    sys.exit(1 if result.n_failed else 0)


def command_line(args):
    if len(args) != 2 or args[0] not in ("snapshot", "compare"):
        sys.exit("usage: covetest.py snapshot FILE | covetest.py compare FILE")
    verb, path = args[0], Path(args[1])
    if verb == "snapshot":
        path.write_text(HostState.take().to_json())
        return
    before = HostState.from_json(path.read_text())
    leaks = HostState.diff(before, seconds=TEARDOWN_SECONDS)
    for leak in leaks:
        print(f"left behind: {leak}")
    sys.exit(1 if leaks else 0)


if __name__ == "__main__":
    command_line(sys.argv[1:])
