/** `pino-ingest release`. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { IngestService } from '../../../src/service/index.js'
import { clone, git, scratch, write } from '../../client/release/clones.js'
import { CI_VARIABLE } from '../../recorded-ci.js'
import { started } from '../../service/support.js'
import type { CliEnv } from '../run-cli.js'
import { runInProcess } from '../run-in-process.js'
import type { CommandResult } from '../run-in-process.js'

const KEY = 'release-key-4711'
const NO_CI = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => CI_VARIABLE.test(name))
    .map((name) => [name, undefined]),
)

async function withService(): Promise<{ service: IngestService; env: CliEnv }> {
  const service = await started({ apiKeys: [KEY] })
  return { service, env: { ...NO_CI, PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY } }
}

/** Runs it in the folder. */
function releaseIn(folder: string, env: CliEnv, ...args: readonly string[]): Promise<CommandResult> {
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
  onTestFinished(() => cwd.mockRestore())
  return runInProcess(['release', ...args], env)
}

test('prints the id and nothing else', async () => {
  const { service } = await withService()
  const flags = '--version 1.4.0 --commit abc --branch main --deployed-by jane --changelog'.split(' ')
  const ran = await runInProcess(['release', ...flags, '- fixed the cart', '--url', service.url], {
    PINO_INGEST_API_KEY: KEY,
  })
  const [stored] = service.releases().items
  expect(ran).toEqual({ code: 0, out: `${stored?.release_id}\n`, err: '' })
  expect(stored?.release).toEqual({
    version: '1.4.0',
    commit_hash: 'abc',
    branch: 'main',
    deployed_by: 'jane',
    changelog: '- fixed the cart',
  })
})

test('--json prints the registered release, with values from the working folder', async () => {
  const { service, env } = await withService()
  const folder = clone()
  write(folder, 'package.json', '{"version":"2.0.0"}')
  write(folder, 'CHANGES', 'one\ntwo\n')
  const { out } = await releaseIn(folder, env, '--json', '--changelog-file', join(folder, 'CHANGES'))
  const release = {
    version: '2.0.0',
    commit_hash: git(folder, 'rev-parse', 'HEAD'),
    branch: 'topic/cart',
    deployed_by: 'Jane Doe',
    changelog: 'one\ntwo',
  }
  expect(JSON.parse(out)).toEqual({ release_id: service.releases().items[0]?.release_id, ...release })
  expect(service.releases().items).toMatchObject([{ release }])
})

test('reads the changelog from stdin', async () => {
  const { service, env } = await withService()
  expect(await runInProcess(['release', '--version', '1', '--changelog-file', '-'], env, 'three\n')).toMatchObject({
    code: 0,
  })
  expect(service.releases().items).toMatchObject([{ release: { changelog: 'three' } }])
})

test('does not wait for the writer of a FIFO', async () => {
  const fifo = join(scratch(), 'fifo')
  execFileSync('mkfifo', [fifo])
  const { env } = await withService()
  const ran = await runInProcess(['release', '--version', '1', '--changelog-file', fifo], env)
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(`${fifo} (not a regular file)`) })
})

test.each([
  [['--changelog', 'a', '--changelog-file', 'b'], {}, 2, '--changelog-file'],
  [['--changelog-file', '/not/there'], {}, 2, '/not/there (ENOENT)'],
  [['1.4.0'], {}, 2, 'unexpected argument 1.4.0'],
  [['--versoin', '1'], {}, 2, 'did you mean --version?'],
  [['--version'], {}, 2, '--version needs a value'],
  [['--version', '1'], { NODE_ENV: 'production', PINO_INGEST_URL: '' }, 2, 'url is required'],
  [['--version', '1'], { PINO_INGEST_API_KEY: 'canary-key' }, 1, 'status 401'],
] as const)('%j %j: exit code and message', async (args, more, code, message) => {
  const { service, env } = await withService()
  for (const asJson of [false, true]) {
    const ran = await runInProcess(['release', ...args, ...(asJson ? ['--json'] : [])], { ...env, ...more })
    expect(ran).toMatchObject({ code, out: '' })
    expect(asJson ? (JSON.parse(ran.err) as { error: { message: string } }).error.message : ran.err).toContain(message)
    expect(ran.err).not.toContain('canary-key')
  }
  expect(service.releases().items).toEqual([])
})

test.each([
  ['no package.json', undefined],
  ['a package.json without a version', '{"name":"app"}'],
  ['a damaged one', '{"version":'],
])('no version, %s: names the folder and what to set', async (_, packageJson) => {
  const { env } = await withService()
  const folder = scratch()
  if (packageJson !== undefined) write(folder, 'package.json', packageJson)
  const ran = await releaseIn(folder, env)
  expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringContaining(folder) })
  expect(ran.err).toContain('PINO_INGEST_VERSION')
})
