// The life of sandboxes: every method of Sandbox that needs a server.
import assert from 'node:assert/strict'
import { Sandbox, SandboxNotFoundError, AuthenticationError, InvalidArgumentError, E2B } from 'e2b'

const mark = `compat-${Math.random().toString(36).slice(2)}`
let sandbox

async function all(paginator) {
  const out = []
  while (paginator.hasNext) out.push(...(await paginator.nextItems()))
  return out
}

export async function before() {
  sandbox = await Sandbox.create({ metadata: { mark, 'k y': 'v&1' }, envs: { GREETING: 'hello there' }, timeoutMs: 1_200_000 })
}

export async function after() {
  for (const s of await all(Sandbox.list({ query: { metadata: { mark } } }))) await Sandbox.kill(s.sandboxId)
}

export async function create_tells_who_it_is() {
  assert.match(sandbox.sandboxId, /^[a-z0-9]+$/)
  assert.equal(await sandbox.isRunning(), true)
}

export async function info() {
  const info = await sandbox.getInfo()
  assert.equal(info.sandboxId, sandbox.sandboxId)
  assert.equal(info.metadata['k y'], 'v&1')
  assert.equal(info.state, 'running')
  assert.ok(info.endAt > info.startedAt)
  const again = await Sandbox.getInfo(sandbox.sandboxId)
  assert.equal(again.sandboxId, sandbox.sandboxId)
}

export async function environment_of_the_creation() {
  assert.equal((await sandbox.commands.run('echo "$GREETING" $E2B_SANDBOX $E2B_SANDBOX_ID')).stdout, `hello there true ${sandbox.sandboxId}\n`)
}

export async function list_by_metadata_and_state() {
  const found = await all(Sandbox.list({ query: { metadata: { mark, 'k y': 'v&1' }, state: ['running'] }, limit: 1 }))
  assert.deepEqual(found.map((s) => s.sandboxId), [sandbox.sandboxId])
  assert.deepEqual(await all(Sandbox.list({ query: { metadata: { mark: 'nobody' } } })), [])
}

export async function list_pages() {
  const made = await Promise.all([1, 2, 3].map(() => Sandbox.create({ metadata: { mark, page: 'yes' }, timeoutMs: 60_000 })))
  const paginator = Sandbox.list({ query: { metadata: { mark, page: 'yes' } }, limit: 2 })
  const first = await paginator.nextItems()
  assert.equal(first.length, 2)
  assert.ok(paginator.hasNext)
  const rest = await paginator.nextItems()
  assert.equal(rest.length, 1)
  assert.ok(!paginator.hasNext)
  assert.deepEqual([...first, ...rest].map((s) => s.sandboxId).sort(), made.map((s) => s.sandboxId).sort())
  for (const s of made) assert.equal(await s.kill(), true)
}

export async function timeout_shortens_and_lengthens() {
  await sandbox.setTimeout(1_200_000)
  const far = (await sandbox.getInfo()).endAt
  await sandbox.setTimeout(600_000)
  const near = (await sandbox.getInfo()).endAt
  assert.ok(far - near > 400_000)
}

export async function connect_finds_it_and_never_shortens() {
  const before = (await sandbox.getInfo()).endAt
  const other = await Sandbox.connect(sandbox.sandboxId, { timeoutMs: 1000 })
  assert.equal((await other.commands.run('echo ok')).stdout, 'ok\n')
  assert.equal((await sandbox.getInfo()).endAt.getTime(), before.getTime())
}

export async function unknown_ones_are_said_to_be() {
  await assert.rejects(Sandbox.connect('inobodyhasthisidatall1'), SandboxNotFoundError)
  await assert.rejects(Sandbox.getInfo('inobodyhasthisidatall1'), SandboxNotFoundError)
  assert.equal(await Sandbox.kill('inobodyhasthisidatall1'), false)
}

export async function a_key_that_nobody_has() {
  await assert.rejects(Sandbox.create({ apiKey: `e2b_${'0'.repeat(40)}` }), AuthenticationError)
}

export async function a_template_that_nobody_has() {
  await assert.rejects(Sandbox.create('no-such-template-at-all'), /not found/)
}

export async function what_is_refused_says_so() {
  await assert.rejects(Sandbox.create({ mcp: { exa: { apiKey: 'x' } } }), /mcp/i)
}

export async function kill_ends_it_at_once() {
  const victim = await Sandbox.create({ metadata: { mark } })
  assert.equal(await victim.kill(), true)
  assert.equal(await victim.isRunning(), false)
  assert.equal(await victim.kill(), false)
  await assert.rejects(victim.commands.run('true'))
}

export async function a_timeout_ends_it() {
  const brief = await Sandbox.create({ metadata: { mark }, timeoutMs: 2000 })
  const deadline = Date.now() + 60_000
  while ((await brief.isRunning()) && Date.now() < deadline) await new Promise((r) => setTimeout(r, 200))
  assert.equal(await brief.isRunning(), false)
  await assert.rejects(Sandbox.getInfo(brief.sandboxId), SandboxNotFoundError)
}

export async function pause_keeps_processes() {
  const s = await Sandbox.create({ metadata: { mark } })
  const handle = await s.commands.run('sleep 300', { background: true, timeoutMs: 0 })
  const boot = (await s.commands.run('cat /proc/sys/kernel/random/boot_id')).stdout
  assert.equal(await s.pause(), true)
  assert.equal(await s.pause(), false)
  assert.equal(await s.isRunning(), false)
  assert.equal((await s.getInfo()).state, 'paused')
  const back = await s.connect({ timeoutMs: 60_000 })
  assert.ok((await back.commands.list()).some((p) => p.pid === handle.pid))
  assert.equal((await back.commands.run('cat /proc/sys/kernel/random/boot_id')).stdout, boot)
  assert.equal((await back.commands.run(`kill -0 ${handle.pid}`)).exitCode, 0)
  await back.kill()
}

export async function pause_without_memory_is_another_boot() {
  const s = await Sandbox.create({ metadata: { mark } })
  await s.files.write('kept.txt', 'all of it')
  const boot = (await s.commands.run('cat /proc/sys/kernel/random/boot_id')).stdout
  assert.equal(await s.pause({ keepMemory: false }), true)
  await s.connect()
  assert.equal(await s.files.read('kept.txt'), 'all of it')
  assert.notEqual((await s.commands.run('cat /proc/sys/kernel/random/boot_id')).stdout, boot)
  await s.kill()
}

export async function a_timeout_can_pause() {
  const s = await Sandbox.create({ metadata: { mark }, timeoutMs: 60_000, lifecycle: { onTimeout: 'pause' } })
  await s.files.write('kept.txt', 'kept')
  await s.setTimeout(1000) // only now: the file is there
  const deadline = Date.now() + 60_000
  while ((await s.getInfo()).state !== 'paused' && Date.now() < deadline) await new Promise((r) => setTimeout(r, 200))
  assert.equal((await s.getInfo()).state, 'paused')
  await s.connect({ timeoutMs: 60_000 })
  assert.equal(await s.files.read('kept.txt'), 'kept')
  await s.kill()
}

export async function traffic_can_wake_it() {
  const s = await Sandbox.create({ metadata: { mark }, timeoutMs: 60_000, lifecycle: { onTimeout: 'pause', autoResume: true } })
  await s.pause()
  assert.equal((await s.commands.run('echo awake')).stdout, 'awake\n')
  assert.equal((await s.getInfo()).state, 'running')
  await s.kill()
}

export async function snapshots() {
  await sandbox.files.write('in-snapshot.txt', 'one')
  const snapshot = await sandbox.createSnapshot()
  await sandbox.files.write('in-snapshot.txt', 'two')
  const listed = await all(Sandbox.listSnapshots({ sandboxId: sandbox.sandboxId }))
  assert.ok(listed.some((s) => s.snapshotId === snapshot.snapshotId))
  const copy = await Sandbox.create(snapshot.snapshotId, { metadata: { mark } })
  assert.equal(await copy.files.read('in-snapshot.txt'), 'one')
  await copy.kill()
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), true)
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), false)
}

export async function forks() {
  await sandbox.files.write('forked.txt', 'shared')
  const results = await sandbox.fork({ count: 2, timeoutMs: 60_000 })
  assert.equal(results.length, 2)
  for (const r of results) {
    const fork = r.sandbox ?? r
    assert.equal(await fork.files.read('forked.txt'), 'shared')
    await fork.files.write('forked.txt', 'mine')
    await fork.kill()
  }
  assert.equal(await sandbox.files.read('forked.txt'), 'shared')
}

export async function metrics() {
  const deadline = Date.now() + 60_000
  let metrics = await sandbox.getMetrics()
  while (metrics.length === 0 && Date.now() < deadline) {
    await new Promise((r) => setTimeout(r, 500))
    metrics = await sandbox.getMetrics()
  }
  assert.ok(metrics.length > 0)
  const m = metrics[metrics.length - 1]
  assert.ok(m.cpuCount >= 1 && m.memTotal > 0 && m.memUsed >= 0 && m.diskTotal > 0)
}

export async function network_is_shut_where_asked() {
  const s = await Sandbox.create({ metadata: { mark }, allowInternetAccess: false })
  await assert.rejects(s.commands.run('curl -sS -m 5 --fail http://1.1.1.1/'))
  await s.kill()
}

export async function network_can_be_changed() {
  await sandbox.updateNetwork({ denyOut: ['8.8.8.8'] })
  const info = await sandbox.getInfo()
  assert.equal(info.sandboxId, sandbox.sandboxId)
}

export async function a_client_object() {
  const client = new E2B({ apiKey: process.env.E2B_API_KEY })
  const s = await client.Sandbox.create({ metadata: { mark }, timeoutMs: 60_000 })
  assert.equal((await s.commands.run('echo bound')).stdout, 'bound\n')
  await s.kill()
}

export async function timeouts_that_cannot_be() {
  await assert.rejects(Sandbox.create({ timeoutMs: -5000 }), /timeout|400/i)
  await assert.rejects(sandbox.fork({ count: 0 }), /count|400|at least/i)
}

export async function host_names() {
  assert.match(sandbox.getHost(8000), new RegExp(`^8000-${sandbox.sandboxId}\\.`))
  if (!process.env.E2B_DOMAIN) return // then there is nothing at that name
  const server = await sandbox.commands.run('python3 -m http.server 8000', { background: true, timeoutMs: 0 })
  const url = `https://${sandbox.getHost(8000)}/`
  let status = 0
  for (let i = 0; i < 300 && status !== 200; i++) {
    status = (await fetch(url).catch(() => ({ status: 0 }))).status
    if (status !== 200) await new Promise((r) => setTimeout(r, 200))
  }
  assert.equal(status, 200)
  await server.kill()
}

export async function traffic_behind_a_token() {
  if (!process.env.E2B_DOMAIN) return
  const s = await Sandbox.create({ metadata: { mark }, network: { allowPublicTraffic: false } })
  assert.ok(s.trafficAccessToken)
  await s.commands.run('python3 -m http.server 8000', { background: true, timeoutMs: 0 })
  const url = `https://${s.getHost(8000)}/`
  assert.equal((await fetch(url)).status, 403)
  let status = 0
  for (let i = 0; i < 300 && status !== 200; i++) {
    status = (await fetch(url, { headers: { 'e2b-traffic-access-token': s.trafficAccessToken } })).status
    if (status !== 200) await new Promise((r) => setTimeout(r, 200))
  }
  assert.equal(status, 200)
  await s.kill()
}
