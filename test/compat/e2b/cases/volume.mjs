// Volumes and their content.
import assert from 'node:assert/strict'
import { Sandbox, Volume, VolumeNotFoundError } from 'e2b'

const name = `compat-${Math.random().toString(36).slice(2)}`
let volume

export async function before() {
  volume = await Volume.create(name)
}

export async function after() {
  assert.equal(await Volume.destroy(volume.volumeId), true)
  assert.equal(await Volume.destroy(volume.volumeId), false)
}

export async function it_is_there() {
  assert.ok((await Volume.list()).some((v) => v.name === name))
  assert.equal((await Volume.getInfo(volume.volumeId)).name, name)
  assert.equal((await Volume.connect(volume.volumeId)).name, name)
  await assert.rejects(Volume.getInfo('nobody-has-this'), VolumeNotFoundError)
}

export async function its_content() {
  await volume.makeDir('/d')
  await volume.writeFile('/d/f.txt', 'held')
  assert.equal(await volume.readFile('/d/f.txt'), 'held')
  assert.equal(await volume.exists('/d/f.txt'), true)
  const info = await volume.getInfo('/d/f.txt')
  assert.deepEqual([info.type, Number(info.size)], ['file', 4])
  assert.deepEqual((await volume.list('/d')).map((e) => e.name), ['f.txt'])
  await volume.updateMetadata('/d/f.txt', { mode: 0o600 })
  await volume.remove('/d/f.txt')
  assert.equal(await volume.exists('/d/f.txt'), false)
}

export async function mounted_in_a_sandbox() {
  await volume.writeFile('/shared.txt', 'outside')
  const s = await Sandbox.create({ volumeMounts: { '/mnt/v': volume } })
  assert.equal((await s.commands.run('cat /mnt/v/shared.txt')).stdout, 'outside')
  await s.commands.run('sudo sh -c "echo inside > /mnt/v/back.txt"')
  await s.kill()
  assert.equal(await volume.readFile('/back.txt'), 'inside\n')
}
