// Secrets: in, never out.
import assert from 'node:assert/strict'
import { Secret, SecretNotFoundError } from 'e2b'

const name = `compat_${Math.random().toString(36).slice(2)}`

export async function their_life() {
  const made = await Secret.create(name, 'value one', { metadata: { a: 'b' } })
  assert.equal(made.name, name)
  assert.equal(JSON.stringify(made).includes('value one'), false)
  assert.equal(await Secret.exists(name), true)
  const again = await Secret.update(name, 'value two')
  assert.ok(again.version > made.version)
  assert.equal((await Secret.getInfo(name)).name, name)
  const paginator = Secret.list()
  const all = []
  while (paginator.hasNext) all.push(...(await paginator.nextItems()))
  assert.ok(all.some((s) => s.name === name))
  assert.equal(await Secret.destroy(name), true)
  assert.equal(await Secret.exists(name), false)
  await assert.rejects(Secret.getInfo(name), SecretNotFoundError)
}
