"""Git, volumes and secrets."""

from e2b import SecretNotFoundException, VolumeNotFoundException

from . import equal, fresh, pages, raises

REPO = "/home/user/repo"


async def git(kind, at):
    s = await kind(kind.Sandbox.create(timeout=300))
    git = s.git
    try:
        await kind(git.configure_user("Cove", "cove@example.org"))
        await kind(git.init(REPO, initial_branch="main"))
        await kind(s.files.write(f"{REPO}/a.txt", "one\n"))
        equal((await kind(git.status(REPO))).is_clean, False)
        await kind(git.add(REPO))
        await kind(git.commit(REPO, "first"))
        equal((await kind(git.status(REPO))).is_clean, True)
        await kind(git.create_branch(REPO, "side"))
        equal(sorted((await kind(git.branches(REPO))).branches), ["main", "side"])
        await kind(git.checkout_branch(REPO, "main"))
        await kind(s.commands.run("git init --bare -b main /home/user/remote.git"))
        await kind(git.remote_add(REPO, "origin", "/home/user/remote.git"))
        await kind(git.push(REPO, remote="origin", branch="main"))
        await kind(git.clone("/home/user/remote.git", path="/home/user/clone"))
        equal(await kind(s.files.read("/home/user/clone/a.txt")), "one\n")
    finally:
        await kind(s.kill())


async def volume(kind, at):
    name = fresh()
    volume = await kind(kind.Volume.create(name))
    assert name in [v.name for v in await kind(kind.Volume.list())]
    equal((await kind(kind.Volume.connect(volume.volume_id))).name, name)
    await kind(volume.make_dir("/d"))
    await kind(volume.write_file("/d/f.txt", "held"))
    equal([await kind(volume.read_file("/d/f.txt")), [e.name for e in await kind(volume.list("/d"))]], ["held", ["f.txt"]])
    s = await kind(kind.Sandbox.create(volume_mounts={"/mnt/v": volume}))
    equal((await kind(s.commands.run("cat /mnt/v/d/f.txt"))).stdout, "held")
    equal(await kind(s.kill()), True)
    await kind(volume.remove("/d/f.txt"))
    equal(await kind(volume.exists("/d/f.txt")), False)
    equal([await kind(kind.Volume.destroy(volume.volume_id)) for _ in range(2)], [True, False])
    with raises(VolumeNotFoundException):
        await kind(kind.Volume.get_info(volume.volume_id))


async def secret(kind, at):
    name = fresh().replace("-", "_")
    made = await kind(kind.Secret.create(name, "value one", metadata={"a": "b"}))
    assert made.name == name and "value one" not in repr(made), made
    assert (await kind(kind.Secret.update(name, "value two"))).version > made.version
    equal([(await kind(kind.Secret.get_info(name))).name, await kind(kind.Secret.exists(name))], [name, True])
    assert name in [s.name for s in await pages(kind, kind.Secret.list())]
    equal([await kind(kind.Secret.destroy(name)), await kind(kind.Secret.exists(name))], [True, False])
    with raises(SecretNotFoundException):
        await kind(kind.Secret.get_info(name))
