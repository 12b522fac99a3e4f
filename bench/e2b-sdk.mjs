// e2b-sdk.mjs: what E2B's SDK itself takes for things, against whatever E2B_* point to. One line of JSON: name → milliseconds of each round.
//
//   node e2b-sdk.mjs ROUNDS LARGE_BYTES [code] [URL]
//
// URL is a server that answers at once, and runs true before it answers to /run: the same two requests as create and the first command, by the same client.
import { performance } from 'node:perf_hooks'
import { Sandbox as Plain } from 'e2b'
import { Sandbox as Interpreter } from '@e2b/code-interpreter'

const rounds = Number(process.argv[2])
const large = Number(process.argv[3])
const withCode = process.argv[4] === 'code'
const floor = process.argv[5]
const times = {}

async function timed(name, f) {
  const began = performance.now()
  const result = await f()
  ;(times[name] ??= []).push(performance.now() - began)
  return result
}

const small = 'x'.repeat(1024)
const blob = new Blob(Array(large >> 20).fill(new Uint8Array(1 << 20).fill(7)))
const steady = await Plain.create({ timeoutMs: 3_600_000 })

async function fileRounds() {
  await timed('write+read 1 KB', async () => {
    await steady.files.write('small', small)
    await steady.files.read('small')
  })
}

async function largeRounds() {
  await timed('write 100 MB', () => steady.files.write('/tmp/large', blob))
  await timed('read 100 MB', async () => {
    for await (const chunk of await steady.files.read('/tmp/large', { format: 'stream' })) void chunk
  })
}

async function codeRounds(round) {
  const s = await Interpreter.create({ timeoutMs: 600_000 })
  await timed('runCode 1+1, first', () => s.runCode('1+1'))
  await timed('runCode 1+1, again', () => s.runCode('1+1'))
  await s.kill()
  if (round % 4) return
  const p = await Interpreter.create({ timeoutMs: 600_000 })
  await timed('import pandas, first', () => p.runCode('import pandas'))
  await p.kill()
}

const ask = async (path) => (await fetch(floor + path, { method: 'POST', body: '{}' })).text()

async function floorRounds() {
  await timed('floor: two requests', async () => (await ask('/'), await ask('/')))
  await timed('floor: two requests, one runs true', async () => (await ask('/'), await ask('/run')))
}

for (let i = 0; i < rounds + 2; i++) {
  if (floor) await floorRounds()
  const s = await timed('create', () => Plain.create({ timeoutMs: 600_000 }))
  await timed('first command', () => s.commands.run('true'))
  await timed('command', () => s.commands.run('true'))
  await timed('kill', () => s.kill())
  await fileRounds()
  if (i === 1) for (const k in times) times[k] = [] // the first two warm up both sides
}
for (let i = 0; i < 3; i++) await largeRounds()
if (withCode) for (let i = 0; i < rounds; i++) await codeRounds(i)
await steady.kill()
times['create → first output'] = times['create'].map((t, i) => t + times['first command'][i])
console.log(JSON.stringify(times))
process.exit(0)
