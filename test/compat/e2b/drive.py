"""drive.py: runs cases of E2B's Python SDK against whatever E2B_* point to, and tells of each in a line of JSON.

    python drive.py --list                   names
    python drive.py sync|async [NAME…]       all, or those whose name begins so

A case is a function of a file in pycases/ that takes a kind: the SDK's plain half or its asyncio half. It is written once, as a coroutine, and waits for
what the SDK gives by `await kind(…)`. The plain half never suspends it, so that it runs without any event loop, as a user's program would.
Cases of a file run one after the other, files beside each other.
"""

import asyncio
import importlib
import inspect
import json
import os
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import e2b  # noqa: E402
import e2b_code_interpreter  # noqa: E402

PATIENCE = 240.0


class Sync:
    """The SDK's plain half."""

    name = "sync"
    Sandbox, Template, Volume, Secret = e2b_code_interpreter.Sandbox, e2b.Template, e2b.Volume, e2b.Secret

    async def __call__(self, value):
        return value

    async def pause(self, seconds):
        time.sleep(seconds)

    async def together(self, *calls):
        with ThreadPoolExecutor(len(calls)) as pool:
            return [f.result() for f in [pool.submit(c) for c in calls]]

    async def start(self, sandbox, command, seen, **options):
        """A command in the background; what it prints is in seen once it has ended."""
        return sandbox.commands.run(command, background=True, **options)

    async def finish(self, handle, seen):
        return handle.wait(on_stdout=seen.append, on_stderr=seen.append)

    async def stream_input(self, sandbox, pid, parts):
        sandbox.commands.stream_input(pid, parts)

    async def terminal(self, sandbox, size, seen, **options):
        return sandbox.pty.create(size, **options)

    async def terminal_again(self, sandbox, pid, seen):
        return sandbox.pty.connect(pid, timeout=0)

    async def type_into(self, sandbox, pid, parts):
        sandbox.pty.stream_input(pid, parts)

    async def terminal_end(self, handle, seen):
        return handle.wait(on_pty=seen.append)

    async def watch(self, sandbox, path, **options):
        handle = sandbox.files.watch_dir(path, **options)
        found = []

        async def events():
            found.extend(handle.get_new_events())
            return found
        return handle, events


class Async:
    """The half for asyncio."""

    name = "async"
    Sandbox, Template, Volume, Secret = e2b_code_interpreter.AsyncSandbox, e2b.AsyncTemplate, e2b.AsyncVolume, e2b.AsyncSecret

    async def __call__(self, value):
        return await value if inspect.isawaitable(value) else value

    async def pause(self, seconds):
        await asyncio.sleep(seconds)

    async def together(self, *calls):
        return await asyncio.gather(*[c() for c in calls])

    async def start(self, sandbox, command, seen, **options):
        return await sandbox.commands.run(command, background=True, on_stdout=seen.append, on_stderr=seen.append, **options)

    async def finish(self, handle, seen):
        return await handle.wait()

    async def stream_input(self, sandbox, pid, parts):
        async with sandbox.commands.stream_input(pid) as stream:
            for part in parts:
                await stream.send(part)

    async def terminal(self, sandbox, size, seen, **options):
        return await sandbox.pty.create(size, on_data=seen.append, **options)

    async def terminal_again(self, sandbox, pid, seen):
        return await sandbox.pty.connect(pid, seen.append, timeout=0)

    async def type_into(self, sandbox, pid, parts):
        async with sandbox.pty.stream_input(pid) as stream:
            for part in parts:
                await stream.send(part)

    async def terminal_end(self, handle, seen):
        return await handle.wait()

    async def watch(self, sandbox, path, **options):
        found = []

        async def events():
            return found
        return await sandbox.files.watch_dir(path, on_event=found.append, **options), events


KINDS = {"sync": Sync, "async": Async}
_telling = threading.Lock()


def tell(name, began, error=None):
    line = {"name": name, "ok": error is None, "ms": int((time.monotonic() - began) * 1000)}
    if error is not None:
        line["error"] = "".join(traceback.format_exception(error))[-4000:]
    with _telling:
        print(json.dumps(line), flush=True)


def load():
    """group → (module, {name: case})"""
    groups = {}
    for path in sorted((HERE / "pycases").glob("*.py")):
        if path.stem == "__init__":
            continue
        module = importlib.import_module(f"pycases.{path.stem}")
        cases = {n: f for n, f in vars(module).items() if inspect.iscoroutinefunction(f) and f.__module__ == module.__name__ and n[0] != "_"}
        groups[path.stem] = module, {n: f for n, f in cases.items() if n not in ("before", "after")}
    return groups


async def attempt(name, coroutine, kind):
    """Whether it went well; only what fails is told when name is not that of a case."""
    began = time.monotonic()
    try:
        await (asyncio.wait_for(coroutine, PATIENCE) if isinstance(kind, Async) else coroutine)
    except Exception as error:
        tell(name, began, error)
        return error
    if not name.endswith((".before", ".after")):
        tell(name, began)
    return None


async def run_group(kind, group, module, cases, wanted):
    chosen = {n: f for n, f in cases.items() if not wanted or any(f"{group}.{n}".startswith(w) for w in wanted)}
    if not chosen:
        return
    state = State()
    trouble = await attempt(f"{group}.before", module.before(kind, state), kind) if hasattr(module, "before") else None
    for name, case in chosen.items():
        if trouble:
            tell(f"{group}.{name}", time.monotonic(), trouble)
        else:
            await attempt(f"{group}.{name}", case(kind, state), kind)
    if hasattr(module, "after"):
        await attempt(f"{group}.after", module.after(kind, state), kind)


class State:
    """What the cases of a file share."""


def run_plainly(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise AssertionError("a case waited for something that is not of the SDK's plain half")


def main():
    if sys.argv[1] == "--list":
        print("\n".join(f"{g}.{n}" for g, (_, cases) in load().items() for n in cases))
        return
    kind, wanted, groups = KINDS[sys.argv[1]](), sys.argv[2:], load()
    runs = [(kind, g, m, c, wanted) for g, (m, c) in groups.items()]
    if isinstance(kind, Sync):
        with ThreadPoolExecutor(len(runs)) as pool:
            for done in [pool.submit(lambda r=r: run_plainly(run_group(*r))) for r in runs]:
                done.result()
    else:
        async def everything():
            await asyncio.gather(*[run_group(*r) for r in runs])
        asyncio.run(everything())
    sys.stdout.flush()
    os._exit(0)  # connections that are kept for reuse must not keep us


main()
