"""Commands and terminals."""

from e2b import CommandExitException, InvalidArgumentException, NotFoundException, PtySize, TimeoutException

from . import equal, raises, until


async def before(kind, at):
    at.sandbox = await kind(kind.Sandbox.create(timeout=600))
    at.commands = at.sandbox.commands


async def after(kind, at):
    await kind(at.sandbox.kill())


async def run(kind, at):
    out, err = [], []
    done = await kind(at.commands.run("echo one; echo two >&2; echo ü", on_stdout=out.append, on_stderr=err.append))
    equal((done.exit_code, done.stdout, done.stderr), (0, "one\nü\n", "two\n"))
    equal(("".join(out), "".join(err)), ("one\nü\n", "two\n"))


async def options(kind, at):
    done = await kind(at.commands.run("pwd; whoami; echo $V", cwd="/tmp", user="root", envs={"V": "a b"}))
    equal(done.stdout, "/tmp\nroot\na b\n")
    equal((await kind(at.commands.run("whoami; pwd"))).stdout, "user\n/home/user\n")


async def what_fails_is_raised(kind, at):
    with raises(CommandExitException) as caught:
        await kind(at.commands.run("echo out; echo why >&2; exit 3"))
    equal((caught[0].exit_code, caught[0].stdout, caught[0].stderr), (3, "out\n", "why\n"))
    with raises((InvalidArgumentException, NotFoundException)):
        await kind(at.commands.run("true", cwd="/no/such/directory"))


async def a_timeout(kind, at):
    with raises(TimeoutException):
        await kind(at.commands.run("sleep 120", timeout=1))


async def much_output(kind, at):
    done = await kind(at.commands.run("head -c 3000000 /dev/zero | tr '\\0' x"))
    equal((len(done.stdout), set(done.stdout)), (3000000, {"x"}))


async def background(kind, at):
    seen = []
    handle = await kind.start(at.sandbox, "echo begun; read line; echo got $line", seen, stdin=True, timeout=0)
    assert handle.pid in [p.pid for p in await kind(at.commands.list())]
    await kind(at.commands.send_stdin(handle.pid, "words\n"))
    done = await kind.finish(handle, seen)
    equal((done.stdout, "".join(seen)), ("begun\ngot words\n",) * 2)
    assert handle.pid not in [p.pid for p in await kind(at.commands.list())]


async def stdin_by_the_handle_and_its_end(kind, at):
    seen = []
    handle = await kind.start(at.sandbox, "cat", seen, stdin=True, timeout=0)
    await kind(handle.send_stdin("one "))
    await kind(handle.send_stdin(b"two"))
    await kind(handle.close_stdin())
    equal((await kind.finish(handle, seen)).stdout, "one two")


async def stdin_as_a_stream(kind, at):
    seen = []
    handle = await kind.start(at.sandbox, "head -c 11", seen, stdin=True, timeout=0)
    await kind.stream_input(at.sandbox, handle.pid, ["first", " ", b"words"])
    equal((await kind.finish(handle, seen)).stdout, "first words")


async def kill(kind, at):
    handle = await kind(at.commands.run("sleep 300", background=True, timeout=0))
    equal(await kind(at.commands.kill(handle.pid)), True)
    with raises(CommandExitException):
        await kind(handle.wait())
    equal(await kind(at.commands.kill(handle.pid)), False)
    again = await kind(at.commands.run("sleep 300", background=True, timeout=0))
    equal(await kind(again.kill()), True)


async def connect(kind, at):
    handle = await kind(at.commands.run("read line; echo heard $line; exit 4", background=True, stdin=True, timeout=0))
    await kind(handle.disconnect())
    other = await kind(at.commands.connect(handle.pid, timeout=0))
    equal(other.pid, handle.pid)
    await kind(at.commands.send_stdin(other.pid, "you\n"))
    with raises(CommandExitException) as caught:
        await kind(other.wait())
    equal((caught[0].exit_code, caught[0].stdout), (4, "heard you\n"))
    with raises(NotFoundException):
        await kind(at.commands.connect(999999))
    with raises(NotFoundException):
        await kind(at.commands.send_stdin(999999, "x"))


async def many_at_once(kind, at):
    def one(i):
        return lambda: at.commands.run(f"echo {i}")
    equal([r.stdout for r in await kind.together(*[one(i) for i in range(12)])], [f"{i}\n" for i in range(12)])


async def a_terminal(kind, at):
    seen = []
    handle = await kind.terminal(at.sandbox, PtySize(rows=24, cols=80), seen, envs={"ABC": "123"}, timeout=0)
    await kind(at.sandbox.pty.resize(handle.pid, PtySize(rows=30, cols=101)))
    await kind(at.sandbox.pty.send_stdin(handle.pid, b"stty size; echo $ABC-$((40+2)); exit\n"))
    done = await kind.terminal_end(handle, seen)
    equal(done.exit_code, 0)
    text = b"".join(bytes(s) for s in seen).decode()
    assert "30 101" in text and "123-42" in text, text


async def a_terminal_is_found_again(kind, at):
    handle = await kind.terminal(at.sandbox, PtySize(rows=24, cols=80), [], timeout=0)
    await kind(handle.disconnect())
    seen = []
    other = await kind.terminal_again(at.sandbox, handle.pid, seen)
    equal(other.pid, handle.pid)
    await kind.type_into(at.sandbox, other.pid, ["echo typed-$((40", b"+2)); exit 5\n"])
    with raises(CommandExitException) as caught:
        await kind.terminal_end(other, seen)
    equal(caught[0].exit_code, 5)
    text = b"".join(bytes(s) for s in seen).decode()
    assert "typed-42" in text, text


async def a_terminal_is_killed(kind, at):
    handle = await kind.terminal(at.sandbox, PtySize(rows=24, cols=80), [], timeout=0)
    equal(await kind(at.sandbox.pty.kill(handle.pid)), True)

    async def gone():
        return handle.pid not in [p.pid for p in await kind(at.commands.list())]
    await until(kind, gone)
    equal(await kind(at.sandbox.pty.kill(handle.pid)), False)
