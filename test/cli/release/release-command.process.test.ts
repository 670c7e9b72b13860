/** `pino-ingest release`. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { clone, git, scratch, write } from '../../client/release/clones.js'
import { cleanEnv } from '../../process/run-app.js'
import { CI_VARIABLE } from '../../recorded-ci.js'
import { started } from '../../service/support.js'
import { runCli } from '../run-cli.js'

const KEY = 'release-key-4711'
const CLI = fileURLToPath(new URL('../../../dist/cjs/cli.js', import.meta.url))

test('prints the id and nothing else', async () => {
  const service = await started({ apiKeys: [KEY] })
  const { code, stdout, stderr } = await runCli(
    [
      'release',
      '--version',
      '1.4.0',
      '--commit',
      'abc',
      '--branch',
      'main',
      '--deployed-by',
      'jane',
      '--changelog',
      '- fixed the cart',
      '--url',
      service.url,
    ],
    { PINO_INGEST_API_KEY: KEY },
  )
  const [stored] = service.releases().items
  expect({ code, stdout: stdout.toString(), stderr }).toEqual({
    code: 0,
    stdout: `${stored?.release_id}\n`,
    stderr: '',
  })
  expect(stored?.release).toEqual({
    version: '1.4.0',
    commit_hash: 'abc',
    branch: 'main',
    deployed_by: 'jane',
    changelog: '- fixed the cart',
  })
})

test('a shell can pass the id to a program', async () => {
  const service = await started({ apiKeys: [KEY] })
  const env = cleanEnv({ PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY, NODE: process.execPath, CLI })
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', 'PINO_INGEST_RELEASE_ID=$("$NODE" "$CLI" release --version 1) sh -c \'echo "<$PINO_INGEST_RELEASE_ID>"\''],
    { env },
  )
  expect(stdout).toBe(`<${service.releases().items[0]?.release_id}>\n`)
})

test('--json prints the registered release, with values from the working folder', async () => {
  const service = await started({ apiKeys: [KEY] })
  const folder = clone()
  write(folder, 'package.json', '{"version":"2.0.0"}')
  write(folder, 'CHANGES', 'one\ntwo\n')
  const env = cleanEnv({ PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY })
  for (const name of Object.keys(env)) if (CI_VARIABLE.test(name)) delete env[name]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [CLI, 'release', '--json', '--changelog-file', join(folder, 'CHANGES')],
    { env, cwd: folder },
  )
  const release = {
    version: '2.0.0',
    commit_hash: git(folder, 'rev-parse', 'HEAD'),
    branch: 'topic/cart',
    deployed_by: 'Jane Doe',
    changelog: 'one\ntwo',
  }
  expect(JSON.parse(stdout)).toEqual({ release_id: service.releases().items[0]?.release_id, ...release })
  expect(service.releases().items).toMatchObject([{ release }])
})

test('reads the changelog from stdin', async () => {
  const service = await started({ apiKeys: [KEY] })
  const { code } = await runCli(
    ['release', '--version', '1', '--changelog-file', '-', '--url', service.url],
    { PINO_INGEST_API_KEY: KEY },
    'three\n',
  )
  expect(code).toBe(0)
  expect(service.releases().items).toMatchObject([{ release: { changelog: 'three' } }])
})

test('does not wait for the writer of a FIFO', async () => {
  const fifo = join(scratch(), 'fifo')
  await promisify(execFile)('mkfifo', [fifo])
  const url = 'http://127.0.0.1:9/api/v1'
  const { code, stderr } = await runCli(['release', '--version', '1', '--changelog-file', fifo, '--url', url])
  expect(code).toBe(2)
  expect(stderr).toContain(`${fifo} (not a regular file)`)
})

test.each([
  [['release', '--changelog', 'a', '--changelog-file', 'b'], {}, 2, 'give either --changelog or --changelog-file'],
  [
    ['release', '--changelog-file', '/not/there'],
    {},
    2,
    'cannot read the file in --changelog-file: /not/there (ENOENT)',
  ],
  [['release', '1.4.0'], {}, 2, 'unexpected argument 1.4.0'],
  [['release', '--versoin', '1'], {}, 2, 'did you mean --version?'],
  [['release', '--version'], {}, 2, '--version needs a value'],
  [['release', '--version', '1'], { NODE_ENV: 'production' }, 2, 'url is required'],
  [['release', '--version', '1'], { PINO_INGEST_API_KEY: 'canary-key' }, 1, 'status 401'],
] as const)('%j %j: exit code and message', async (args, env, code, message) => {
  const service = await started({ apiKeys: [KEY] })
  const way = 'NODE_ENV' in env ? env : { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY, ...env }
  const result = await runCli(args, way)
  expect(result).toMatchObject({ code, stdout: Buffer.alloc(0) })
  expect(result.stderr).toContain(message)
  expect(result.stderr).not.toContain('canary-key')
  const json = await runCli([...args, '--json'], way)
  expect(json).toMatchObject({ code, stdout: Buffer.alloc(0) })
  expect(JSON.parse(json.stderr)).toEqual({
    error: { code: expect.any(String), message: expect.stringContaining(message) },
  })
  expect(service.releases().items).toEqual([])
})

test('a Retry-After of more than 30 s: exit 1 immediately, with the time to wait', async () => {
  const service = await started({ apiKeys: [KEY] })
  service.faults.add({ kind: 'status', status: 429, retryAfter: 3600 })
  const result = await runCli(['release', '--version', '1'], { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY })
  expect(result).toMatchObject({ code: 1, stdout: Buffer.alloc(0), stderr: expect.stringMatching(/429.*3600 s/) })
  expect(service.requests).toHaveLength(1)
})

test.each([
  ['no package.json', undefined],
  ['a package.json without a version', '{"name":"app"}'],
  ['a damaged one', '{"version":'],
])('no version, %s: names the folder and what to set', async (_, packageJson) => {
  const service = await started({ apiKeys: [KEY] })
  const env = cleanEnv({ PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY })
  for (const name of Object.keys(env)) if (CI_VARIABLE.test(name)) delete env[name]
  const folder = scratch()
  if (packageJson !== undefined) write(folder, 'package.json', packageJson)
  const failure = await promisify(execFile)(process.execPath, [CLI, 'release'], { env, cwd: folder }).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(folder) })
  expect((failure as { stderr: string }).stderr).toContain('PINO_INGEST_VERSION')
})
