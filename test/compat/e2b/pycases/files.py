"""Files, watches and signed addresses."""

import urllib.error
import urllib.request

from e2b import FileNotFoundException, FilesystemEventType, FileType, InvalidArgumentException

from . import equal, raises, until


async def before(kind, at):
    at.sandbox = await kind(kind.Sandbox.create(timeout=600))
    at.files = at.sandbox.files


async def after(kind, at):
    await kind(at.sandbox.kill())


async def write_and_read(kind, at):
    made = await kind(at.files.write("dir/a.txt", "hällo"))
    equal((made.name, made.path), ("a.txt", "/home/user/dir/a.txt"))
    equal(await kind(at.files.read("dir/a.txt")), "hällo")
    await kind(at.files.write("/home/user/dir/a.txt", "other"))
    equal(await kind(at.files.read("dir/a.txt")), "other")


async def bytes_and_streams(kind, at):
    data = bytes(range(256)) * 8192
    await kind(at.files.write("data", data))
    equal(bytes(await kind(at.files.read("data", format="bytes"))), data)
    equal(bytes(await kind(at.files.read("data", format="bytes", gzip=True))), data)
    stream = await kind(at.files.read("data", format="stream"))
    equal(b"".join([c async for c in stream] if kind.name == "async" else list(stream)), data)
    equal((await kind(at.sandbox.commands.run("wc -c < data"))).stdout.strip(), str(len(data)))


async def many_files(kind, at):
    made = await kind(at.files.write_files([{"path": f"many/{i}", "data": f"{i}"} for i in range(5)]))
    equal(len(made), 5)
    equal([e.name for e in await kind(at.files.list("many"))], ["0", "1", "2", "3", "4"])
    equal(await kind(at.files.read("many/4")), "4")


async def directories(kind, at):
    equal([await kind(at.files.make_dir("new/deep")), await kind(at.files.make_dir("new/deep"))], [True, False])
    equal([await kind(at.files.exists(p)) for p in ("new/deep", "new/not")], [True, False])
    await kind(at.files.write("new/deep/f", "x"))
    equal([(e.name, e.type) for e in await kind(at.files.list("new"))], [("deep", FileType.DIR)])
    equal([e.path for e in await kind(at.files.list("new", depth=2))], ["/home/user/new/deep", "/home/user/new/deep/f"])


async def info(kind, at):
    await kind(at.files.write("info.txt", "12345"))
    await kind(at.sandbox.commands.run("chmod 640 info.txt; ln -s info.txt link.txt"))
    found = await kind(at.files.get_info("info.txt"))
    equal((found.name, found.type, found.size, found.mode, found.owner), ("info.txt", FileType.FILE, 5, 0o640, "user"))
    equal((await kind(at.files.get_info("link.txt"))).symlink_target, "/home/user/info.txt")


async def rename_and_remove(kind, at):
    await kind(at.files.write("old.txt", "same"))
    equal((await kind(at.files.rename("old.txt", "renamed.txt"))).path, "/home/user/renamed.txt")
    equal([await kind(at.files.exists("old.txt")), await kind(at.files.read("renamed.txt"))], [False, "same"])
    await kind(at.files.remove("renamed.txt"))
    equal(await kind(at.files.exists("renamed.txt")), False)


async def what_is_not_there(kind, at):
    for call in (lambda: at.files.read("nothing"), lambda: at.files.list("nothing"), lambda: at.files.get_info("nothing"),
                 lambda: at.files.rename("nothing", "other"), lambda: at.files.read("nothing", format="stream")):
        with raises(FileNotFoundException):
            await kind(call())
    with raises(InvalidArgumentException):
        await kind(at.files.list("dir", depth=0))


async def another_user(kind, at):
    await kind(at.files.write("/root/secret", "roots", user="root"))
    equal(await kind(at.files.read("/root/secret", user="root")), "roots")
    equal((await kind(at.files.get_info("/root/secret", user="root"))).owner, "root")


async def watch(kind, at):
    await kind(at.files.make_dir("watched/below"))
    handle, events = await kind.watch(at.sandbox, "watched", recursive=True)
    await kind(at.files.write("watched/new.txt", "x"))
    await kind(at.files.write("watched/below/deep.txt", "x"))
    await kind(at.files.remove("watched/new.txt"))

    async def all_seen():
        seen = {(e.name, e.type) for e in await events()}
        return seen >= {("new.txt", FilesystemEventType.CREATE), ("below/deep.txt", FilesystemEventType.CREATE), ("new.txt", FilesystemEventType.REMOVE)}
    await until(kind, all_seen)
    await kind(handle.stop())
    with raises(FileNotFoundException):
        await kind.watch(at.sandbox, "nothing-to-watch")


async def signed_addresses(kind, at):
    await kind(at.files.write("signed.txt", "by address"))
    address = at.sandbox.download_url("signed.txt", user="user", use_signature_expiration=120)
    headers = {"E2b-Sandbox-Id": at.sandbox.sandbox_id, "E2b-Sandbox-Port": "49983"}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as reply:
        equal(reply.read(), b"by address")
    with raises(urllib.error.HTTPError, "40[13]"):
        urllib.request.urlopen(urllib.request.Request(address.replace("signed.txt", "info.txt"), headers=headers), timeout=60)


async def an_address_to_upload_to(kind, at):
    address = at.sandbox.upload_url("/home/user/put.txt", use_signature_expiration=120)
    headers = {"E2b-Sandbox-Id": at.sandbox.sandbox_id, "E2b-Sandbox-Port": "49983", "Content-Type": "application/octet-stream"}
    with urllib.request.urlopen(urllib.request.Request(address, b"put there", headers), timeout=60) as reply:
        equal(reply.status, 200)
    equal(await kind(at.files.read("put.txt")), "put there")
    with raises(urllib.error.HTTPError, "40[13]"):
        urllib.request.urlopen(urllib.request.Request(address.replace("put.txt", "other.txt"), b"x", headers), timeout=60)
