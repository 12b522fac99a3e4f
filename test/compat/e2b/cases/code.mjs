// Code that keeps its state: @e2b/code-interpreter.
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/code-interpreter'

let sandbox

export async function before() {
  sandbox = await Sandbox.create({ timeoutMs: 1_200_000 })
}

export async function after() {
  await sandbox.kill()
}

export async function a_value() {
  assert.equal((await sandbox.runCode('x = 20\nx + 1')).text, '21')
  assert.equal((await sandbox.runCode('x')).text, '20')
}

export async function output_in_order() {
  const seen = []
  const r = await sandbox.runCode('import sys\nprint("a"); print("b", file=sys.stderr); print("c")', {
    onStdout: (m) => void seen.push(m.line),
    onStderr: (m) => void seen.push(m.line),
  })
  assert.deepEqual(r.logs.stdout.join(''), 'a\nc\n')
  assert.deepEqual(r.logs.stderr.join(''), 'b\n')
  assert.equal(seen.length, 3)
}

export async function an_error() {
  const r = await sandbox.runCode('def f():\n    return 1 / 0\nf()')
  assert.equal(r.error.name, 'ZeroDivisionError')
  assert.match(r.error.value, /division by zero/)
  assert.match(r.error.traceback, /line 2/)
}

export async function results_of_many_kinds() {
  const r = await sandbox.runCode(`
class Rich:
    def _repr_html_(self): return '<b>x</b>'
    def _repr_markdown_(self): return '**x**'
    def _repr_latex_(self): return '$x$'
    def _repr_svg_(self): return '<svg/>'
    def _repr_json_(self): return {'x': 1}
Rich()`)
  const main = r.results[0]
  assert.deepEqual([main.html, main.markdown, main.latex, main.svg, main.json], ['<b>x</b>', '**x**', '$x$', '<svg/>', { x: 1 }])
}

export async function pictures_and_charts() {
  const r = await sandbox.runCode(`
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [4, 5, 6], label='line')
plt.title('T'); plt.xlabel('X'); plt.ylabel('Y')
plt.show()`)
  assert.equal(r.error, undefined)
  assert.ok(Buffer.from(r.results[0].png, 'base64').subarray(1, 4).equals(Buffer.from('PNG')))
  const chart = r.results[0].chart
  assert.deepEqual([chart.type, chart.title, chart.x_label, chart.y_label], ['line', 'T', 'X', 'Y'])
  assert.deepEqual(chart.elements[0].points, [[1, 4], [2, 5], [3, 6]])
}

export async function an_implicit_picture() {
  const r = await sandbox.runCode("from PIL import Image\nImage.new('RGB', (8, 8), 'red')")
  assert.ok(r.results[0].png || r.results[0].jpeg)
}

export async function tables() {
  const r = await sandbox.runCode("import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})")
  assert.deepEqual(r.results[0].data, { a: [1, 2], b: ['x', 'y'] })
  assert.match(r.results[0].html, /<table/)
}

export async function javascript() {
  assert.equal((await sandbox.runCode('const y = 6; y * 7', { language: 'js' })).text, '42')
  assert.equal((await sandbox.runCode('y + 1', { language: 'js' })).text, '7')
  const r = await sandbox.runCode('console.log("hi"); throw new TypeError("no")', { language: 'javascript' })
  assert.equal(r.logs.stdout.join(''), 'hi\n')
  assert.equal(r.error.name, 'TypeError')
  await assert.rejects(sandbox.runCode('1', { language: 'cobol' }), /There is no language 'cobol': use python/)
}

export async function typescript() {
  assert.equal((await sandbox.runCode('const z: number = 5; z + 1', { language: 'ts' })).text, '6')
}

export async function bash() {
  assert.equal((await sandbox.runCode('V=kept; echo one', { language: 'bash' })).logs.stdout.join(''), 'one\n')
  assert.equal((await sandbox.runCode('echo $V', { language: 'bash' })).logs.stdout.join(''), 'kept\n')
}

export async function contexts() {
  const context = await sandbox.createCodeContext({ cwd: '/tmp', language: 'python' })
  assert.equal(context.cwd, '/tmp')
  await sandbox.runCode('here = 1', { context })
  assert.equal((await sandbox.runCode('import os; os.getcwd()', { context })).text, '/tmp')
  assert.equal((await sandbox.runCode('here')).error.name, 'NameError')
  assert.ok((await sandbox.listCodeContexts()).some((c) => c.id === context.id))
  await sandbox.restartCodeContext(context)
  assert.equal((await sandbox.runCode('here', { context })).error.name, 'NameError')
  await sandbox.removeCodeContext(context)
  assert.ok(!(await sandbox.listCodeContexts()).some((c) => c.id === context.id))
}

export async function environment_of_one_run() {
  assert.equal((await sandbox.runCode("import os; os.environ['ONCE']", { envs: { ONCE: 'now' } })).text, 'now')
  assert.equal((await sandbox.runCode("os.environ.get('ONCE')")).text, undefined)
}

export async function going_away_interrupts() {
  const controller = new AbortController()
  const run = sandbox.runCode('import time\ntime.sleep(120)', { signal: controller.signal, timeoutMs: 2000 })
  await assert.rejects(run)
  assert.equal((await sandbox.runCode('1 + 1', { timeoutMs: 30_000 })).text, '2')
}
