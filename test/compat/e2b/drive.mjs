// drive.mjs: runs cases of E2B's SDK against whatever E2B_* point to, and tells of each in a line of JSON.
//
//   node drive.mjs --list              names
//   node drive.mjs [NAME…]             all, or those whose name begins so
//
// A case is an exported function of a file in cases/; what it throws is what is wrong. Cases of a file run one after the other, files beside each other.
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PATIENCE_MS = 240_000
const here = join(dirname(fileURLToPath(import.meta.url)), 'cases')
const wanted = process.argv.slice(2)

async function load() {
  const groups = []
  for (const file of readdirSync(here).filter((f) => f.endsWith('.mjs')).sort()) {
    const module = await import(join(here, file))
    const cases = Object.entries(module).filter(([name, f]) => typeof f === 'function' && !['before', 'after'].includes(name))
    groups.push({ name: file.replace('.mjs', ''), before: module.before, after: module.after, cases })
  }
  return groups
}

// Some of the SDK's errors have the stack of their caller, without a word of what is wrong.
function told(e) {
  const words = `${e?.name ?? 'Error'}: ${e?.message ?? e}`
  return e?.stack?.startsWith(words) ? e.stack : `${words}\n${e?.stack ?? ''}`
}

function tell(line) {
  process.stdout.write(JSON.stringify(line) + '\n')
}

async function within(promise, ms) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

async function attempt(name, f) {
  const began = Date.now()
  try {
    await within(f(), PATIENCE_MS)
    tell({ name, ok: true, ms: Date.now() - began })
  } catch (e) {
    tell({ name, ok: false, ms: Date.now() - began, error: told(e) })
  }
}

async function runGroup(group) {
  const chosen = group.cases.filter(([name]) => wanted.length === 0 || wanted.some((w) => `${group.name}.${name}`.startsWith(w)))
  if (chosen.length === 0) return
  try {
    await within((async () => group.before?.())(), PATIENCE_MS)
  } catch (e) {
    for (const [name] of chosen) tell({ name: `${group.name}.${name}`, ok: false, ms: 0, error: `before: ${told(e)}` })
    return
  }
  for (const [name, f] of chosen) await attempt(`${group.name}.${name}`, f)
  await within((async () => group.after?.())(), PATIENCE_MS).catch((e) => tell({ name: `${group.name}.after`, ok: false, ms: 0, error: told(e) }))
}

const groups = await load()
if (wanted[0] === '--list') {
  for (const g of groups) for (const [name] of g.cases) console.log(`${g.name}.${name}`)
} else {
  await Promise.all(groups.map(runGroup))
}
process.exit(0) // connections that are kept for reuse must not keep us
