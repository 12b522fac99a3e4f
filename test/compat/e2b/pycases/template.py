"""Templates that are built here."""

import tempfile
from pathlib import Path

from e2b import BuildException

from . import equal, fresh, raises, until


async def before(kind, at):
    at.name = fresh()


async def build_with_files_and_commands(kind, at):
    with tempfile.TemporaryDirectory(prefix="compat-e2b-") as place:
        Path(place, "app.txt").write_text("copied")
        logs = []
        template = (kind.Template(file_context_path=place).from_base_image().set_envs({"BUILT": "yes"}).copy("app.txt", "/app/app.txt")
                    .make_dir("/app/made", user="root").run_cmd("echo ran-$BUILT > /app/ran.txt", user="root").set_workdir("/app"))
        info = await kind(kind.Template.build(template, at.name, cpu_count=1, memory_mb=512, on_build_logs=lambda entry: logs.append(entry.message)))
    assert info.template_id and info.build_id and logs
    s = await kind(kind.Sandbox.create(at.name))
    try:
        equal([await kind(s.files.read(f"/app/{n}")) for n in ("app.txt", "ran.txt")], ["copied", "ran-yes\n"])
        equal((await kind(s.commands.run("echo $BUILT; pwd"))).stdout, "yes\n/app\n")
    finally:
        await kind(s.kill())


async def names_and_tags(kind, at):
    equal([await kind(kind.Template.exists(n)) for n in (at.name, f"{at.name}-not")], [True, False])
    await kind(kind.Template.assign_tags(at.name, ["stable", "v1"]))
    assert "stable" in [t.tag for t in await kind(kind.Template.get_tags(at.name))]
    await kind(kind.Template.remove_tags(at.name, ["stable"]))
    assert "stable" not in [t.tag for t in await kind(kind.Template.get_tags(at.name))]


async def in_the_background(kind, at):
    template = kind.Template().from_template(at.name).run_cmd("echo later > /tmp/later.txt")
    info = await kind(kind.Template.build_in_background(template, f"{at.name}-later"))

    async def ended():
        status = await kind(kind.Template.get_build_status(info))
        return status.status.value in ("ready", "error") and status
    equal((await until(kind, ended)).status.value, "ready")


async def a_step_that_fails(kind, at):
    with raises(BuildException, "7"):
        await kind(kind.Template.build(kind.Template().from_base_image().run_cmd("exit 7"), f"{at.name}-fails"))
