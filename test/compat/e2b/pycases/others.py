"""Git, volumes and secrets."""

from e2b import SandboxException, SecretNotFoundException, VolumeNotFoundException

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


async def rarer_git(kind, at):
    s = await kind(kind.Sandbox.create(timeout=300))
    git, remote = s.git, "/home/user/remote.git"

    async def commit(text):
        await kind(s.files.write(f"{REPO}/a.txt", text))
        await kind(git.add(REPO, files=["a.txt"]))
        await kind(git.commit(REPO, text, author_name="Cove", author_email="cove@example.org"))
    try:
        await kind(git.configure_user("Cove", "cove@example.org"))
        await kind(git.set_config("pull.rebase", "false"))
        equal([await kind(git.get_config(k)) for k in ("pull.rebase", "no.such")], ["false", None])
        await kind(git.init(remote, bare=True, initial_branch="main"))
        await kind(git.init(REPO, initial_branch="main"))
        await commit("one")
        await kind(git.remote_add(REPO, "origin", remote))
        equal([await kind(git.remote_get(REPO, n)) for n in ("origin", "nobody")], [remote, None])
        await kind(git.push(REPO, remote="origin", branch="main"))
        await commit("two")
        await kind(git.reset(REPO, mode="hard", target="HEAD~1"))
        equal(await kind(s.files.read(f"{REPO}/a.txt")), "one")
        await kind(s.files.write(f"{REPO}/a.txt", "spoiled"))
        await kind(git.restore(REPO, ["a.txt"]))
        equal(await kind(s.files.read(f"{REPO}/a.txt")), "one")
        await kind(git.clone(remote, path="/home/user/clone"))
        await commit("three")
        await kind(git.push(REPO, remote="origin", branch="main"))
        await kind(git.pull("/home/user/clone", remote="origin", branch="main"))
        equal(await kind(s.files.read("/home/user/clone/a.txt")), "three")
        await kind(git.create_branch(REPO, "side"))
        await kind(git.checkout_branch(REPO, "main"))
        await kind(git.delete_branch(REPO, "side", force=True))
        equal((await kind(git.branches(REPO))).branches, ["main"])
        await kind(git.dangerously_authenticate("someone", "word", host="git.test"))
        kept = await kind(s.commands.run("printf 'protocol=https\\nhost=git.test\\n\\n' | git credential fill"))
        assert "username=someone\npassword=word" in kept.stdout, kept.stdout
    finally:
        await kind(s.kill())


async def workload_identity_is_refused(kind, at):
    with raises(SandboxException, "iam"):
        await kind(kind.Sandbox.create(iam={"tokens": {"main": kind.Secret.iam_token(audience="example.org", token_type="JWT-SVID")}}))


async def volume(kind, at):
    name = fresh()
    volume = await kind(kind.Volume.create(name))
    assert name in [v.name for v in await kind(kind.Volume.list())]
    equal((await kind(kind.Volume.connect(volume.volume_id))).name, name)
    await kind(volume.make_dir("/d"))
    await kind(volume.write_file("/d/f.txt", "held"))
    equal([await kind(volume.read_file("/d/f.txt")), [e.name for e in await kind(volume.list("/d"))]], ["held", ["f.txt"]])
    equal((await kind(volume.update_metadata("/d/f.txt", uid=1000, gid=1000, mode=0o640))).mode & 0o777, 0o640)
    s = await kind(kind.Sandbox.create(volume_mounts={"/mnt/v": volume}))
    equal((await kind(s.commands.run("cat /mnt/v/d/f.txt; stat -c ' %a %u' /mnt/v/d/f.txt"))).stdout, "held 640 1000\n")
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
