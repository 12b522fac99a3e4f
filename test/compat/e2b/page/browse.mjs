// browse.mjs: a browser that opens a page of ORIGIN and calls one function of it: node browse.mjs < {browser, origin, rules, call, argument}
//
// Prints {result} or {error}, and what the browser wrote to the page's console.
import { chromium } from 'playwright-core'

const PATIENCE_MS = 240_000 // a busy machine needs more than Playwright's half a minute

const chunks = []
for await (const chunk of process.stdin) chunks.push(chunk)
const { browser: executablePath, origin, rules, call, argument } = JSON.parse(Buffer.concat(chunks))
// Without its own sandbox: as root it has none. Every name is one of the test's, and no other is asked for.
const args = ['--no-sandbox', `--host-resolver-rules=${rules}`, '--disable-background-networking', '--disable-component-update']
const browser = await chromium.launch({ executablePath, args, timeout: PATIENCE_MS })
const told = { console: [] }
try {
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  page.on('console', (message) => told.console.push(message.text()))
  await page.goto(`${origin}/`, { timeout: PATIENCE_MS })
  told.result = await page.evaluate(async ([name, value]) => (await import('/page.js'))[name](value), [call, argument])
} catch (error) {
  told.error = `${error}`
} finally {
  await browser.close()
}
process.stdout.write(JSON.stringify(told) + '\n')
