// Git, which is commands with rules.
import assert from 'node:assert/strict'
import { Sandbox } from 'e2b'

let sandbox
const repo = '/home/user/repo'

export async function before() {
  sandbox = await Sandbox.create({ timeoutMs: 1_200_000 })
  await sandbox.git.configureUser('Cove', 'cove@example.org')
}

export async function after() {
  await sandbox.kill()
}

export async function a_repository_and_its_life() {
  await sandbox.git.init(repo, { initialBranch: 'main' })
  await sandbox.files.write(`${repo}/a.txt`, 'one\n')
  assert.equal((await sandbox.git.status(repo)).isClean, false)
  await sandbox.git.add(repo)
  await sandbox.git.commit(repo, 'first')
  assert.equal((await sandbox.git.status(repo)).isClean, true)
  await sandbox.git.createBranch(repo, 'side')
  assert.deepEqual((await sandbox.git.branches(repo)).branches.sort(), ['main', 'side'])
  await sandbox.git.checkoutBranch(repo, 'main')
  await sandbox.git.deleteBranch(repo, 'side', { force: true })
  await sandbox.files.write(`${repo}/a.txt`, 'two\n')
  await sandbox.git.restore(repo, { paths: ['a.txt'] })
  assert.equal(await sandbox.files.read(`${repo}/a.txt`), 'one\n')
  await sandbox.files.write(`${repo}/a.txt`, 'three\n')
  await sandbox.git.reset(repo, { mode: 'hard', target: 'HEAD' })
  assert.equal(await sandbox.files.read(`${repo}/a.txt`), 'one\n')
}

export async function remotes() {
  await sandbox.commands.run('git init --bare -b main /home/user/remote.git')
  await sandbox.git.remoteAdd(repo, 'origin', '/home/user/remote.git')
  assert.equal(await sandbox.git.remoteGet(repo, 'origin'), '/home/user/remote.git')
  await sandbox.git.push(repo, { remote: 'origin', branch: 'main' })
  await sandbox.git.clone('/home/user/remote.git', { path: '/home/user/clone' })
  await sandbox.git.pull('/home/user/clone')
  assert.equal(await sandbox.files.read('/home/user/clone/a.txt'), 'one\n')
}

export async function settings() {
  await sandbox.git.setConfig('cove.test', 'yes')
  assert.equal(await sandbox.git.getConfig('cove.test'), 'yes')
  assert.equal(await sandbox.git.getConfig('cove.nothing'), undefined)
  await sandbox.git.dangerouslyAuthenticate({ username: 'u', password: 'p' })
}
