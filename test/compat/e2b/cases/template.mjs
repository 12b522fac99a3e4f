// Templates that are built here.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sandbox, Template, BuildError } from 'e2b'

const name = `compat-${Math.random().toString(36).slice(2)}`

export async function build_with_files_and_commands() {
  const context = mkdtempSync(join(tmpdir(), 'compat-e2b-'))
  writeFileSync(join(context, 'app.txt'), 'copied')
  const logs = []
  const template = Template({ fileContextPath: context })
    .fromBaseImage()
    .setEnvs({ BUILT: 'yes' })
    .copy('app.txt', '/app/app.txt')
    .makeDir('/app/made', { user: 'root' })
    .runCmd('echo ran-$BUILT > /app/ran.txt', { user: 'root' })
    .setWorkdir('/app')
  const info = await Template.build(template, name, { onBuildLogs: (l) => void logs.push(l.message), cpuCount: 1, memoryMB: 512 })
    .finally(() => rmSync(context, { recursive: true }))
  assert.ok(info.templateId && info.buildId)
  assert.ok(logs.length > 0)
  const s = await Sandbox.create(name)
  assert.equal(await s.files.read('/app/app.txt'), 'copied')
  assert.equal(await s.files.read('/app/ran.txt'), 'ran-yes\n')
  assert.equal((await s.commands.run('echo $BUILT')).stdout, 'yes\n')
  await s.kill()
}

export async function names_and_tags() {
  assert.equal(await Template.exists(name), true)
  assert.equal(await Template.exists(`${name}-not`), false)
  await Template.assignTags(name, ['stable', 'v1'])
  assert.ok((await Template.getTags(name)).some((t) => t.tag === 'stable'))
  const s = await Sandbox.create(`${name}:stable`)
  await s.kill()
  await Template.removeTags(name, ['v1'])
  assert.ok(!(await Template.getTags(name)).some((t) => t.tag === 'v1'))
}

export async function in_the_background() {
  const info = await Template.buildInBackground(Template().fromTemplate(name).runCmd('sleep 1; echo more'), `${name}-bg`)
  const deadline = Date.now() + 60_000
  let status = await Template.getBuildStatus(info)
  while (!['ready', 'error'].includes(status.status) && Date.now() < deadline) {
    await new Promise((r) => setTimeout(r, 300))
    status = await Template.getBuildStatus(info)
  }
  assert.equal(status.status, 'ready')
}

export async function a_build_that_fails() {
  await assert.rejects(Template.build(Template().fromBaseImage().runCmd('echo broken >&2; exit 9'), `${name}-bad`), BuildError)
  assert.equal(await Sandbox.create(`${name}-bad`).then(() => 'made', () => 'refused'), 'refused')
}
