"""The life of sandboxes: every method of Sandbox that needs a server."""

import os

import e2b
import e2b_code_interpreter
from e2b import AuthenticationException, SandboxException, SandboxNotFoundException, SandboxQuery, SandboxState

from . import equal, fresh, pages, raises, until

NOBODY = "inobodyhasthisidatall1"


async def before(kind, at):
    at.mark = fresh()
    at.sandbox = await kind(kind.Sandbox.create(metadata={"mark": at.mark, "k y": "v&1"}, envs={"GREETING": "hello there"}, timeout=600))


async def after(kind, at):
    for info in await pages(kind, kind.Sandbox.list(query=SandboxQuery(metadata={"mark": at.mark}))):
        await kind(kind.Sandbox.kill(info.sandbox_id))


async def info(kind, at):
    assert await kind(at.sandbox.is_running())
    for found in (await kind(at.sandbox.get_info()), await kind(kind.Sandbox.get_info(at.sandbox.sandbox_id))):
        equal((found.sandbox_id, found.metadata["k y"], found.state), (at.sandbox.sandbox_id, "v&1", SandboxState.RUNNING))
        assert found.end_at > found.started_at and found.cpu_count >= 1 and found.memory_mb > 0


async def environment_of_the_creation(kind, at):
    said = await kind(at.sandbox.commands.run('echo "$GREETING" $E2B_SANDBOX_ID'))
    equal(said.stdout, f"hello there {at.sandbox.sandbox_id}\n")


async def list_pages(kind, at):
    def make():
        return kind.Sandbox.create(metadata={"mark": at.mark, "page": "yes"}, timeout=120)
    made = await kind.together(make, make, make)
    paginator = kind.Sandbox.list(query=SandboxQuery(metadata={"mark": at.mark, "page": "yes"}, state=[SandboxState.RUNNING]), limit=2)
    first = await kind(paginator.next_items())
    equal((len(first), paginator.has_next), (2, True))
    rest = await kind(paginator.next_items())
    equal(sorted(s.sandbox_id for s in first + rest), sorted(s.sandbox_id for s in made))
    equal(paginator.has_next, False)
    for s in made:
        equal(await kind(s.kill()), True)
    equal(await pages(kind, kind.Sandbox.list(query=SandboxQuery(metadata={"mark": "nobody"}))), [])


async def timeout_shortens_and_lengthens(kind, at):
    await kind(at.sandbox.set_timeout(1200))
    far = (await kind(at.sandbox.get_info())).end_at
    await kind(kind.Sandbox.set_timeout(at.sandbox.sandbox_id, 600))
    assert (far - (await kind(at.sandbox.get_info())).end_at).total_seconds() > 400


async def connect_finds_it(kind, at):
    end = (await kind(at.sandbox.get_info())).end_at
    other = await kind(kind.Sandbox.connect(at.sandbox.sandbox_id, timeout=1))
    equal((await kind(other.commands.run("echo ok"))).stdout, "ok\n")
    equal((await kind(at.sandbox.get_info())).end_at, end)


async def unknown_ones_are_said_to_be(kind, at):
    for call in (kind.Sandbox.connect, kind.Sandbox.get_info):
        with raises(SandboxNotFoundException):
            await kind(call(NOBODY))
    with raises(SandboxNotFoundException):
        await kind(kind.Sandbox.set_timeout(NOBODY, 60))
    equal(await kind(kind.Sandbox.kill(NOBODY)), False)


async def what_is_refused_says_so(kind, at):
    with raises(AuthenticationException):
        await kind(kind.Sandbox.create(api_key="e2b_" + "0" * 40))
    with raises(SandboxException, "not found"):
        await kind(kind.Sandbox.create("no-such-template-at-all"))
    with raises(SandboxException, "timeout"):
        await kind(kind.Sandbox.create(timeout=-5))


async def kill_ends_it(kind, at):
    victim = await kind(kind.Sandbox.create(metadata={"mark": at.mark}))
    equal([await kind(victim.kill()), await kind(victim.is_running()), await kind(victim.kill())], [True, False, False])
    with raises(SandboxException):
        await kind(victim.commands.run("true"))


async def a_timeout_ends_it(kind, at):
    brief = await kind(kind.Sandbox.create(metadata={"mark": at.mark}, timeout=2))

    async def gone():
        return not await kind(brief.is_running())
    await until(kind, gone)
    with raises(SandboxNotFoundException):
        await kind(kind.Sandbox.get_info(brief.sandbox_id))


async def pause_keeps_processes(kind, at):
    s = await kind(kind.Sandbox.create(metadata={"mark": at.mark}))
    handle = await kind(s.commands.run("sleep 300", background=True, timeout=0))
    equal([await kind(s.pause()), await kind(s.pause()), await kind(s.is_running())], [True, False, False])
    equal((await kind(s.get_info())).state, SandboxState.PAUSED)
    back = await kind(s.connect(timeout=60))
    assert handle.pid in [p.pid for p in await kind(back.commands.list())]
    await kind(back.beta_pause())
    equal((await kind(back.get_info())).state, SandboxState.PAUSED)
    await kind(back.kill())


async def pause_without_memory_is_another_boot(kind, at):
    s = await kind(kind.Sandbox.create(metadata={"mark": at.mark}))
    await kind(s.files.write("kept.txt", "all of it"))
    boot = (await kind(s.commands.run("cat /proc/sys/kernel/random/boot_id"))).stdout
    equal(await kind(s.pause(mode="filesystem")), True)
    await kind(s.connect())
    equal(await kind(s.files.read("kept.txt")), "all of it")
    assert (await kind(s.commands.run("cat /proc/sys/kernel/random/boot_id"))).stdout != boot
    await kind(s.kill())


async def a_timeout_can_pause_and_traffic_wake(kind, at):
    s = await kind(kind.Sandbox.create(metadata={"mark": at.mark}, timeout=60, lifecycle={"on_timeout": "pause", "auto_resume": True}))
    await kind(s.set_timeout(1))

    async def paused():
        return (await kind(s.get_info())).state == SandboxState.PAUSED
    await until(kind, paused)
    equal((await kind(s.commands.run("echo awake"))).stdout, "awake\n")
    await kind(s.kill())


async def snapshots(kind, at):
    await kind(at.sandbox.files.write("in-snapshot.txt", "one"))
    snapshot = await kind(at.sandbox.create_snapshot())
    await kind(at.sandbox.files.write("in-snapshot.txt", "two"))
    assert snapshot.snapshot_id in [s.snapshot_id for s in await pages(kind, at.sandbox.list_snapshots())]
    copy = await kind(kind.Sandbox.create(snapshot.snapshot_id, metadata={"mark": at.mark}))
    equal(await kind(copy.files.read("in-snapshot.txt")), "one")
    await kind(copy.kill())
    equal([await kind(kind.Sandbox.delete_snapshot(snapshot.snapshot_id)) for _ in range(2)], [True, False])


async def forks(kind, at):
    await kind(at.sandbox.files.write("forked.txt", "shared"))
    made = await kind(at.sandbox.fork(count=2, timeout=60))
    equal(len(made), 2)
    for fork in made:
        assert not isinstance(fork, Exception), fork
        equal(await kind(fork.files.read("forked.txt")), "shared")
        await kind(fork.files.write("forked.txt", "mine"))
        await kind(fork.kill())
    equal(await kind(at.sandbox.files.read("forked.txt")), "shared")


async def metrics(kind, at):
    async def some():
        return await kind(at.sandbox.get_metrics())
    last = (await until(kind, some))[-1]
    assert last.cpu_count >= 1 and last.mem_total > 0 and last.mem_used >= 0 and last.disk_total > 0, last


async def network(kind, at):
    s = await kind(kind.Sandbox.create(metadata={"mark": at.mark}, allow_internet_access=False))
    with raises(e2b.CommandExitException):
        await kind(s.commands.run("curl -sS -m 5 --fail http://1.1.1.1/"))
    await kind(s.kill())
    await kind(at.sandbox.update_network({"deny_out": ["8.8.8.8"]}))
    equal((await kind(at.sandbox.get_info())).network["deny_out"], ["8.8.8.8"])


async def a_client_object(kind, at):
    client = e2b_code_interpreter.E2B(api_key=os.environ["E2B_API_KEY"])
    bound = client.Sandbox if kind.name == "sync" else client.AsyncSandbox
    s = await kind(bound.create(metadata={"mark": at.mark}, timeout=60))
    equal((await kind(s.commands.run("echo bound"))).stdout, "bound\n")
    await kind(s.kill())


async def host_names(kind, at):
    assert at.sandbox.get_host(8000).startswith(f"8000-{at.sandbox.sandbox_id}."), at.sandbox.get_host(8000)
