// Files: REST and RPC.
import assert from 'node:assert/strict'
import { Sandbox, FileNotFoundError, InvalidArgumentError, FileType, FilesystemEventType } from 'e2b'

let sandbox

export async function before() {
  sandbox = await Sandbox.create({ timeoutMs: 1_200_000 })
}

export async function after() {
  await sandbox.kill()
}

export async function write_and_read() {
  const info = await sandbox.files.write('a/b/c.txt', 'content')
  assert.equal(info.path, '/home/user/a/b/c.txt')
  assert.equal(await sandbox.files.read('a/b/c.txt'), 'content')
  assert.equal((await sandbox.commands.run('stat -c "%U %G %a" a a/b/c.txt')).stdout, 'user user 755\nuser user 644\n')
}

export async function formats() {
  const bytes = new Uint8Array(70_000).map((_, i) => i % 256)
  await sandbox.files.write('bytes', new Blob([bytes]))
  assert.deepEqual(await sandbox.files.read('bytes', { format: 'bytes' }), bytes)
  assert.equal((await sandbox.files.read('bytes', { format: 'blob' })).size, bytes.length)
  let n = 0
  for await (const chunk of await sandbox.files.read('bytes', { format: 'stream' })) n += chunk.length
  assert.equal(n, bytes.length)
  await sandbox.files.write('empty', '')
  assert.equal(await sandbox.files.read('empty'), '')
}

export async function streams_up() {
  const stream = new Blob(['x'.repeat(3_000_000)]).stream()
  await sandbox.files.write('streamed', stream)
  assert.equal((await sandbox.files.getInfo('streamed')).size, 3_000_000)
}

export async function many_at_once() {
  const infos = await sandbox.files.writeFiles([1, 2, 3, 4].map((i) => ({ path: `many/${i}.txt`, data: `n${i}` })))
  assert.deepEqual(infos.map((i) => i.name), ['1.txt', '2.txt', '3.txt', '4.txt'])
  assert.equal(await sandbox.files.read('many/3.txt'), 'n3')
}

export async function compressed() {
  const text = 'squeeze me '.repeat(10_000)
  await sandbox.files.write('gz.txt', text, { gzip: true })
  assert.equal(await sandbox.files.read('gz.txt', { gzip: true }), text)
}

export async function metadata() {
  await sandbox.files.write('marked', 'x', { metadata: { owner: 'me', Round: '2' } })
  const info = await sandbox.files.getInfo('marked')
  assert.equal(info.metadata.owner, 'me')
  await sandbox.files.write('marked', 'y')
  assert.ok(!(await sandbox.files.getInfo('marked')).metadata?.owner)
}

export async function what_is_not_there() {
  await assert.rejects(sandbox.files.read('nope'), FileNotFoundError)
  await assert.rejects(sandbox.files.getInfo('nope'), FileNotFoundError)
  await assert.rejects(sandbox.files.list('nope'), FileNotFoundError)
  await assert.rejects(sandbox.files.rename('nope', 'other'), FileNotFoundError)
  assert.equal(await sandbox.files.exists('nope'), false)
  await sandbox.files.remove('nope')
}

export async function what_cannot_be() {
  await sandbox.files.makeDir('dir')
  await assert.rejects(sandbox.files.read('dir'), InvalidArgumentError)
  await assert.rejects(sandbox.files.write('dir', 'x'), InvalidArgumentError)
  await sandbox.files.write('plain', 'x')
  await assert.rejects(sandbox.files.list('plain'), InvalidArgumentError)
}

export async function directories() {
  assert.equal(await sandbox.files.makeDir('d1/d2/d3'), true)
  assert.equal(await sandbox.files.makeDir('d1/d2/d3'), false)
  await sandbox.files.write('d1/z', '')
  await sandbox.files.write('d1/d2/y', '')
  assert.deepEqual((await sandbox.files.list('d1')).map((e) => [e.name, e.type]), [['d2', FileType.DIR], ['z', FileType.FILE]])
  assert.deepEqual((await sandbox.files.list('d1', { depth: 3 })).map((e) => e.path), ['/home/user/d1/d2', '/home/user/d1/d2/d3', '/home/user/d1/d2/y', '/home/user/d1/z'])
  await sandbox.files.remove('d1')
  assert.equal(await sandbox.files.exists('d1'), false)
}

export async function entries_tell_everything() {
  await sandbox.files.write('told', '12345')
  await sandbox.commands.run('chmod 750 told; ln -sf told link')
  const e = await sandbox.files.getInfo('told')
  assert.deepEqual([e.name, e.path, e.size, e.mode, e.permissions, e.owner, e.group, e.type], ['told', '/home/user/told', 5, 0o750, '-rwxr-x---', 'user', 'user', 'file'])
  assert.ok(Math.abs(e.modifiedTime.getTime() - Date.now()) < 600_000)
  assert.equal((await sandbox.files.getInfo('link')).symlinkTarget, '/home/user/told')
}

export async function renaming() {
  await sandbox.files.write('old', 'same')
  const e = await sandbox.files.rename('old', 'new/place')
  assert.equal(e.path, '/home/user/new/place')
  assert.equal(await sandbox.files.read('new/place'), 'same')
  assert.equal(await sandbox.files.exists('old'), false)
}

export async function other_users() {
  await sandbox.files.write('/root/secret', 'root', { user: 'root' })
  assert.equal((await sandbox.commands.run('stat -c %U /root/secret', { user: 'root' })).stdout, 'root\n')
  await assert.rejects(sandbox.files.write('x', 'y', { user: 'nobody-has-this' }))
}

export async function the_root_directory() {
  await sandbox.files.write('/0/x.txt', 'deep')
  assert.equal(await sandbox.files.read('/0/x.txt'), 'deep')
}

export async function watching() {
  await sandbox.files.makeDir('watched/sub')
  const seen = []
  const handle = await sandbox.files.watchDir('watched', (e) => void seen.push(e), { recursive: true })
  await sandbox.files.write('watched/new.txt', 'x')
  await sandbox.files.write('watched/sub/deep.txt', 'x')
  await sandbox.files.makeDir('watched/later')
  await sandbox.files.write('watched/later/file', 'x')
  await sandbox.files.remove('watched/new.txt')
  const has = (name, type) => seen.some((e) => e.name === name && e.type === type)
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline && !(has('new.txt', FilesystemEventType.REMOVE) && has('later/file', FilesystemEventType.CREATE))) await new Promise((r) => setTimeout(r, 50))
  assert.ok(has('sub/deep.txt', FilesystemEventType.CREATE), JSON.stringify(seen))
  assert.ok(has('later/file', FilesystemEventType.CREATE), JSON.stringify(seen))
  assert.ok(has('new.txt', FilesystemEventType.REMOVE), JSON.stringify(seen))
  await handle.stop()
}

export async function urls_that_need_no_key() {
  await sandbox.files.write('shared.txt', 'for all')
  const down = await sandbox.downloadUrl('shared.txt', { useSignatureExpiration: 60 })
  // Without names, the URL does not say whose it is.
  const at = process.env.E2B_SANDBOX_URL ? { headers: { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '49983' } } : {}
  assert.equal(await (await fetch(down, at)).text(), 'for all')
  if (process.env.E2B_SANDBOX_URL) assert.equal((await fetch(down)).status, 401)
  const up = await sandbox.uploadUrl('uploaded.txt')
  const form = new FormData()
  form.append('file', 'from outside')
  assert.equal((await fetch(up, { method: 'POST', body: form, ...at })).status, 200)
  assert.equal(await sandbox.files.read('uploaded.txt'), 'from outside')
  const wrong = down.replace(/signature=v1_..../, 'signature=v1_AAAA')
  assert.equal((await fetch(wrong, at)).status, 401)
}

export async function a_hundred_megabytes() {
  const size = 100 * 1024 * 1024
  const block = new Uint8Array(1 << 20).fill(7)
  await sandbox.files.write('/tmp/large', new Blob(Array(100).fill(block)))
  assert.equal((await sandbox.commands.run('stat -c %s /tmp/large')).stdout, `${size}\n`)
  let n = 0
  for await (const chunk of await sandbox.files.read('/tmp/large', { format: 'stream' })) n += chunk.length
  assert.equal(n, size)
}
