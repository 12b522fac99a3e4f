// Commands and terminals.
import assert from 'node:assert/strict'
import { Sandbox, CommandExitError, NotFoundError, TimeoutError, InvalidArgumentError } from 'e2b'

let sandbox

export async function before() {
  sandbox = await Sandbox.create({ timeoutMs: 1_200_000 })
}

export async function after() {
  await sandbox.kill()
}

export async function output_and_exit_code() {
  const r = await sandbox.commands.run('echo out; echo err >&2')
  assert.deepEqual([r.exitCode, r.stdout, r.stderr], [0, 'out\n', 'err\n'])
}

export async function a_failure_is_thrown() {
  await assert.rejects(sandbox.commands.run('echo no >&2; exit 42'), (e) => e instanceof CommandExitError && e.exitCode === 42 && e.stderr === 'no\n')
}

export async function a_signal() {
  await assert.rejects(sandbox.commands.run('kill -9 $$'), (e) => e instanceof CommandExitError && /killed/.test(e.error))
}

export async function who_runs_it() {
  assert.equal((await sandbox.commands.run('id -un; id -u; pwd; echo $HOME')).stdout, 'user\n1000\n/home/user\n/home/user\n')
  assert.equal((await sandbox.commands.run('id -un; echo $HOME', { user: 'root' })).stdout, 'root\n/root\n')
}

export async function sudo_is_root() {
  assert.equal((await sandbox.commands.run('sudo id -u')).stdout, '0\n')
  assert.equal((await sandbox.commands.run('echo in | sudo sh -c "cat; touch /etc/by-sudo; exit 3"; echo $?')).stdout, 'in\n3\n')
}

export async function environment_and_directory() {
  const r = await sandbox.commands.run('echo "$A-$B"; pwd', { envs: { A: 'x y', B: 'ü' }, cwd: '/tmp' })
  assert.equal(r.stdout, 'x y-ü\n/tmp\n')
}

export async function a_directory_that_is_not_there() {
  await assert.rejects(sandbox.commands.run('true', { cwd: '/nope' }), InvalidArgumentError)
}

export async function callbacks_stream() {
  const seen = []
  const file = `/tmp/heard-${Date.now()}`
  let tell
  const first = new Promise((resolve) => (tell = resolve))
  const run = sandbox.commands.run(`echo 1; until [ -e ${file} ]; do sleep 0.05; done; echo 2`, {
    onStdout: (d) => {
      seen.push(d)
      tell()
    },
  })
  await first // while the command waits
  await sandbox.files.write(file, '')
  await run
  assert.equal(seen.join(''), '1\n2\n')
}

export async function much_output() {
  const r = await sandbox.commands.run('head -c 5000000 /dev/zero | tr "\\0" x; echo; seq 1 20000 >&2')
  assert.equal(r.stdout.length, 5_000_001)
  assert.ok(r.stderr.endsWith('\n20000\n'))
}

export async function unicode_is_whole() {
  const r = await sandbox.commands.run('python3 -c "print(\'ä€😀\' * 50000)"')
  assert.equal(r.stdout, 'ä€😀'.repeat(50000) + '\n')
}

export async function background_list_and_kill() {
  const handle = await sandbox.commands.run('sleep 300', { background: true })
  const listed = (await sandbox.commands.list()).find((p) => p.pid === handle.pid)
  assert.equal(listed.cmd, '/bin/bash')
  assert.deepEqual(listed.args, ['-l', '-c', 'sleep 300'])
  assert.equal(await handle.kill(), true)
  await assert.rejects(sandbox.commands.run(`kill -0 ${handle.pid}`))
  assert.equal(await sandbox.commands.kill(999_999), false)
}

export async function standard_input() {
  const handle = await sandbox.commands.run('cat', { background: true, stdin: true })
  await sandbox.commands.sendStdin(handle.pid, 'one\n')
  await sandbox.commands.sendStdin(handle.pid, new TextEncoder().encode('two\n'))
  await sandbox.commands.closeStdin(handle.pid)
  assert.equal((await handle.wait()).stdout, 'one\ntwo\n')
}

export async function connecting_to_a_process() {
  const handle = await sandbox.commands.run('read line; echo "got $line"', { background: true, stdin: true })
  const other = await sandbox.commands.connect(handle.pid)
  assert.equal(other.pid, handle.pid)
  await sandbox.commands.sendStdin(handle.pid, 'it\n')
  const [a, b] = await Promise.all([handle.wait(), other.wait()])
  assert.equal(a.stdout, 'got it\n')
  assert.equal(b.stdout, 'got it\n')
  await assert.rejects(sandbox.commands.connect(999_999), NotFoundError)
}

export async function a_deadline() {
  await assert.rejects(sandbox.commands.run('sleep 60', { timeoutMs: 1000 }), TimeoutError)
}

export async function disconnecting_leaves_it_running() {
  const handle = await sandbox.commands.run('sleep 2; echo late > /tmp/late', { background: true, timeoutMs: 0 })
  await handle.disconnect()
  const deadline = Date.now() + 60_000
  while (!(await sandbox.files.exists('/tmp/late')) && Date.now() < deadline) await new Promise((r) => setTimeout(r, 200))
  assert.equal(await sandbox.files.exists('/tmp/late'), true)
}

export async function a_sandbox_that_dies_under_a_command() {
  const s = await Sandbox.create()
  let running
  await new Promise((resolve) => {
    running = s.commands.run('echo on; sleep 600', { onStdout: resolve, timeoutMs: 0 })
    running.catch(() => {})
  })
  await s.kill()
  await assert.rejects(running, TimeoutError)
}

async function terminal(opts = {}) {
  let output = ''
  const decoder = new TextDecoder()
  const handle = await sandbox.pty.create({ cols: 80, rows: 24, onData: (d) => void (output += decoder.decode(d, { stream: true })), ...opts })
  const until = async (what) => {
    const deadline = Date.now() + 60_000
    const seen = () => what instanceof RegExp ? what.test(output) : output.includes(what)
    while (!seen() && Date.now() < deadline) await new Promise((r) => setTimeout(r, 50))
    assert.ok(seen(), `waited for ${what} in ${JSON.stringify(output)}`)
  }
  const type = (text) => sandbox.pty.sendInput(handle.pid, new TextEncoder().encode(text))
  return { handle, until, type, text: () => output }
}

export async function terminals() {
  const t = await terminal({ envs: { SAID: 'so' }, cwd: '/tmp' })
  await t.type('echo "$SAID:$(pwd):$TERM:$(tput cols)"\n')
  await t.until('so:/tmp:xterm-256color:80')
  await sandbox.pty.resize(t.handle.pid, { cols: 100, rows: 30 })
  await t.type('stty size\n')
  await t.until('30 100')
  await t.type('exit\n')
  assert.equal((await t.handle.wait()).exitCode, 0)
}

export async function terminals_and_sudo() {
  const t = await terminal()
  await t.type('sudo sh -c "tty; stty size; echo root-\\$(id -u)"\n')
  await t.until('root-0')
  await t.type("sudo sh -c 'echo on-$((1+1)); exec sleep 100'\n")
  await t.until('on-2')
  await t.type('\x03')
  await t.until(/\^C[^]*\$ $/) // what is typed before the prompt is there is typed for sudo
  await t.type('echo back-$?\n')
  await t.until('back-1')
  assert.equal(await sandbox.pty.kill(t.handle.pid), true)
}

export async function connecting_to_a_terminal() {
  const t = await terminal()
  let other = ''
  const handle = await sandbox.pty.connect(t.handle.pid, { onData: (d) => void (other += new TextDecoder().decode(d)) })
  await t.type('echo both-$((40+2))\n')
  await t.until('both-42')
  const deadline = Date.now() + 60_000
  while (!other.includes('both-42') && Date.now() < deadline) await new Promise((r) => setTimeout(r, 50))
  assert.ok(other.includes('both-42'))
  assert.equal(await sandbox.pty.kill(handle.pid), true)
}
