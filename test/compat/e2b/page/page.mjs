// page.mjs: what a page in a browser does with E2B's SDK and with fetch. Each function is called by browse.mjs, in the page.
import { Sandbox } from 'e2b'

// The whole way of a page: a sandbox, a command, files by signed addresses, which carry no key.
export async function sandboxAndFiles({ apiKey, domain }) {
  const sandbox = await Sandbox.create({ apiKey, domain, timeoutMs: 120_000 })
  try {
    const { stdout } = await sandbox.commands.run('echo from the page; echo $0')
    const form = new FormData()
    form.append('file', new Blob(['uploaded']), 'a.txt')
    const put = await fetch(await sandbox.uploadUrl('/home/user/a.txt', { useSignatureExpiration: 60 }), { method: 'POST', body: form })
    const got = await fetch(await sandbox.downloadUrl('/home/user/a.txt', { useSignatureExpiration: 60 }))
    return { stdout, uploaded: put.status, downloaded: await got.text(), read: await sandbox.files.read('a.txt') }
  } finally {
    await sandbox.kill()
  }
}

// What a page sees of an answer: its status and text, or that the browser keeps it.
export async function ask({ url, options }) {
  try {
    const reply = await fetch(url, options)
    return { type: reply.type, status: reply.status, text: await reply.text() }
  } catch (error) {
    return { refused: `${error}` }
  }
}
