/** `pino-ingest doctor` finds each problem and never shows the key. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  checkKeyUse,
  checkOptions,
  checkVariables,
  describeRuntime,
} from '../../../src/cli/doctor/check-configuration.js'
import { httpServer } from '../../client/http-servers.js'
import { scratch } from '../../client/release/clones.js'
import { started } from '../../service/support.js'
import type { CliEnv } from '../run-cli.js'
import { runInProcess } from '../run-in-process.js'
import { entriesUpTo, leave } from '../spool/stored-spool.js'

const KEY = 'doctor-key-5f0e77'

interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  readonly fix?: string
}

/** Returns the text and JSON output of two runs. Checks that neither contains the key. */
async function examine(
  env: CliEnv,
  args: readonly string[] = [],
): Promise<{ code: number; checks: readonly Check[]; text: string }> {
  const json = await runInProcess(['doctor', '--json', ...args], env)
  const text = await runInProcess(['doctor', ...args], env)
  expect(json.code).toBe(text.code)
  for (const form of [KEY.slice(0, 8), Buffer.from(KEY).toString('base64').slice(0, 10)])
    expect([json.out, json.err, text.out, text.err].join()).not.toContain(form)
  return { code: json.code, checks: JSON.parse(json.out) as Check[], text: text.out }
}

function failed(checks: readonly Check[]): readonly Check[] {
  return checks.filter(({ ok }) => !ok)
}

/** A server with the same reply to every request. */
async function answering(status: number, headers: Record<string, string> = {}, body = ''): Promise<string> {
  const { origin } = await httpServer((response) => void response.writeHead(status, headers).end(body))
  return `${origin}/api/v1`
}

describe('doctor', () => {
  test('a key file that is a FIFO or endless is a problem of the configuration', async () => {
    const fifo = join(scratch(), 'fifo')
    execFileSync('mkfifo', [fifo])
    for (const path of [fifo, '/dev/zero']) {
      const { code, checks } = await examine({ PINO_INGEST_API_KEY_FILE: path })
      expect(code).toBe(2)
      expect(failed(checks)).toMatchObject([{ detail: expect.stringContaining('not a regular file') }])
    }
  })

  test('passes, and the service stores nothing', async () => {
    const service = await started({ apiKeys: [KEY] })
    const { code, checks, text } = await examine({
      PINO_INGEST_URL: service.url,
      PINO_INGEST_API_KEY: KEY,
      PINO_INGEST_SERVICE: 'shop',
    })
    expect(checks.map(({ name, ok, fix }) => [name, ok, fix])).toEqual(
      ['node', 'options', 'configuration', 'spool', 'proxy', 'address', 'key', 'clock'].map((name) => [
        name,
        true,
        undefined,
      ]),
    )
    expect(checks.find(({ name }) => name === 'configuration')?.detail).toContain(
      `url ${service.url} (PINO_INGEST_URL), apiKey (PINO_INGEST_API_KEY, not shown), service shop (PINO_INGEST_SERVICE), spool {"dir":`,
    )
    expect(text).not.toMatch(/ s (?:ahead|behind)/)
    expect(text).toContain('0 problems, 0 warnings.')
    expect(service.arrived).toBe(0)
    expect(service.requests.map(({ entries }) => entries)).toEqual([0, 0])
    expect(code).toBe(0)
  })

  test('a rejected key', async () => {
    const service = await started({ apiKeys: ['another'] })
    const { code, checks, text } = await examine({ PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY })
    expect(failed(checks)).toMatchObject([
      {
        name: 'key',
        detail: expect.stringContaining('status 401'),
        fix: expect.stringContaining('PINO_INGEST_API_KEY'),
      },
    ])
    expect(text).toMatch(/^FAIL {2}key .*\n +-> set PINO_INGEST_API_KEY/m)
    expect(code).toBe(1)
  })

  test('a refused connection', async () => {
    const { code, checks } = await examine({ PINO_INGEST_URL: 'http://127.0.0.1:1/api/v1', PINO_INGEST_API_KEY: KEY })
    expect(failed(checks)).toMatchObject([{ name: 'address', detail: expect.stringContaining('ECONNREFUSED') }])
    expect(checks.at(-1)?.name).toBe('address')
    expect(code).toBe(1)
  })

  test('a redirect whose reply quotes the key', async () => {
    const url = await answering(307, { location: `https://elsewhere.example/${KEY}/api/v1?secret=1` }, KEY)
    const { code, checks } = await examine({ PINO_INGEST_API_KEY: KEY }, ['--url', url])
    expect(failed(checks)).toMatchObject([
      {
        name: 'address',
        detail: expect.stringContaining('redirects to https://elsewhere.example/***/api/v1 (status 307)'),
      },
    ])
    expect(code).toBe(1)
  })

  test('a login page with status 200 that quotes the key', async () => {
    const { code, checks, text } = await examine({
      PINO_INGEST_URL: await answering(
        200,
        { 'content-type': 'text/html' },
        `<title>Sign in</title>${'x'.repeat(55)}${KEY}`,
      ),
      PINO_INGEST_API_KEY: KEY,
    })
    expect(failed(checks)).toMatchObject([
      {
        name: 'address',
        detail: expect.stringMatching(/status 200, text\/html: <title>Sign in/),
        fix: expect.stringContaining('/api/v1'),
      },
    ])
    // The replying server is not the service, so its clock is not checked.
    expect(checks.at(-1)?.name).toBe('address')
    expect(text).toMatch(/^FAIL {2}address/m)
    expect(code).toBe(1)
  })

  test('escapes control characters in a reply, and warns about a wrong clock', async () => {
    const url = await answering(
      422,
      { date: 'Thu, 01 Jan 2026 00:00:00 GMT' },
      JSON.stringify({ detail: [{ msg: `\u001b[2J\u202e${KEY}`, loc: [], type: '' }] }),
    )
    const { code, checks, text } = await examine({ PINO_INGEST_URL: url, PINO_INGEST_API_KEY: KEY })
    expect(checks.filter(({ fix }) => fix !== undefined)).toMatchObject([
      { name: 'clock', ok: true, detail: expect.stringContaining('ahead of') },
    ])
    expect(text).toMatch(/^warn {2}clock/m)
    expect(text).not.toMatch(/[\u001b\u202e]/)
    expect(code).toBe(0)
  })

  test('a wrong configuration ends the checks', async () => {
    const { code, checks } = await examine({
      PINO_INGEST_URL: 'http://logs.example.com/v2',
      PINO_INGEST_API_KEY: KEY,
      PINO_INGEST_APIKEY: 'x',
    })
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ['node', true],
      ['variable', true],
      ['options', true],
      ['configuration', false],
    ])
    expect(checks[1]).toMatchObject({
      detail: expect.stringContaining('PINO_INGEST_APIKEY'),
      fix: 'did you mean PINO_INGEST_API_KEY?',
    })
    expect(checks[3]?.detail).toContain('end with /api/v1')
    expect(code).toBe(2)
  })

  test('uses a proxy and shows it without its password', async () => {
    const { checks, text } = await examine({
      PINO_INGEST_URL: 'https://logs.example.com/api/v1',
      PINO_INGEST_API_KEY: KEY,
      HTTPS_PROXY: 'http://user:passw0rd@127.0.0.1:1',
    })
    expect(failed(checks)).toMatchObject([{ name: 'address', detail: expect.stringContaining('ECONNREFUSED') }])
    expect(text).toContain('http://127.0.0.1:1\n')
    expect(text).not.toContain('passw0rd')
  })
})

describe('local files of the transport', () => {
  async function checksWith(env: CliEnv): Promise<{ code: number | null; checks: readonly Check[]; text: string }> {
    const service = await started({ apiKeys: [KEY] })
    return examine({ PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY, ...env })
  }

  test('a missing spool folder is created and removed again', async () => {
    const folder = scratch()
    const dir = join(folder, 'a', 'spool')
    const { code, checks } = await checksWith({ PINO_INGEST_SPOOL_DIR: dir })
    expect(checks).toContainEqual({ name: 'spool', ok: true, detail: expect.stringContaining(dir) as string })
    expect(readdirSync(folder)).toEqual([])
    expect(code).toBe(0)
  })

  test('a file instead of the spool folder', async () => {
    const file = join(scratch(), 'file')
    writeFileSync(file, '')
    for (const dir of [file, join(file, 'below')]) {
      const { code, checks } = await checksWith({ PINO_INGEST_SPOOL_DIR: dir })
      expect(failed(checks)).toMatchObject([{ name: 'spool', detail: expect.stringContaining(file) }])
      expect(code).toBe(1)
    }
  })

  test('a spool folder on a volume with less free space than the spool needs', async ({ skip }) => {
    const dir = scratch()
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300k,mode=700', 'tmpfs', dir], { stdio: 'ignore' })
    } catch {
      return skip('no permission to mount a file system')
    }
    onTestFinished(() => void execFileSync('umount', ['-l', dir]))
    const { code, checks } = await checksWith({ PINO_INGEST_SPOOL_DIR: dir })
    expect(failed(checks)).toMatchObject([{ name: 'spool', detail: expect.stringContaining('ENOSPC') }])
    expect(readdirSync(dir)).toEqual([])
    expect(code).toBe(1)
  })

  test('without a spool there is no spool check', async () => {
    const { checks } = await checksWith({ PINO_INGEST_SPOOL: 'false', PINO_INGEST_SPOOL_DIR: undefined })
    expect(checks.some(({ name }) => name === 'spool')).toBe(false)
  })

  test.each([
    ['does not exist', undefined, 'was not found'],
    ['throws while it is loaded', 'throw new Error("no rules file")', 'no rules file'],
    ['throws an error with the key', 'throw new Error(process.env.PINO_INGEST_API_KEY)', '***'],
    ['has a syntax error', 'export default (', 'SyntaxError'],
    ['exports no function', 'export default 1', 'default export'],
  ])('a beforeSend module that %s', async (_, source, why) => {
    const path = join(scratch(), 'hook.mjs')
    if (source !== undefined) writeFileSync(path, source)
    const { code, checks } = await checksWith({ PINO_INGEST_BEFORE_SEND: path })
    expect(failed(checks)).toMatchObject([
      {
        name: 'beforeSend',
        detail: expect.stringContaining(path),
        fix: expect.stringContaining('PINO_INGEST_BEFORE_SEND'),
      },
    ])
    expect(failed(checks)[0]?.detail).toContain(why)
    expect(code).toBe(1)
  })

  test('warns about entries for another destination in the spool folder', async () => {
    const dir = scratch()
    const url = 'http://127.0.0.1:9/api/v1'
    leave(dir, entriesUpTo(3), { url, apiKey: KEY, end: 'closed' })
    const spoolFor = async (env: CliEnv): Promise<Check | undefined> => {
      const { checks } = await examine({
        PINO_INGEST_URL: url,
        PINO_INGEST_API_KEY: 'doctor-other-90d1',
        PINO_INGEST_SPOOL_DIR: dir,
        ...env,
      })
      return checks.find(({ name }) => name === 'spool')
    }
    const before = readdirSync(dir, { recursive: true })
    expect(await spoolFor({})).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/[1-9][\d.]* (?:Ki)?B of entries for another destination/),
      fix: expect.stringContaining('npx pino-ingest spool replay ID'),
    })
    expect(await spoolFor({ PINO_INGEST_API_KEY: KEY })).not.toHaveProperty('fix')
    expect(await spoolFor({ PINO_INGEST_PREVIOUS_API_KEYS: KEY })).not.toHaveProperty('fix')
    expect(readdirSync(dir, { recursive: true })).toEqual(before)
  })
})

const RESULT = JSON.stringify({ accepted: 0, rejected: 0, message: '', errors: [] })

test.each([
  [200, RESULT, 'address ok, key ok'],
  [200, '', 'address warn, key ok'],
  [200, '{}', 'address warn, key ok'],
  [200, '{"accepted":"all"}', 'address FAIL'],
  [400, '', 'address ok, key ok'],
  [422, '', 'address ok, key ok'],
  [429, '', 'address ok, key warn'],
  [503, '', 'address ok, key FAIL'],
  [403, '', 'address ok, key FAIL'],
  [404, '', 'address FAIL'],
  [405, '', 'address FAIL'],
])('a reply with %i %s: %s', async (status, body, expected) => {
  const url = await answering(status, {}, body)
  const { code, checks } = await examine({ PINO_INGEST_URL: url, PINO_INGEST_API_KEY: KEY })
  const shown = checks
    .filter(({ name }) => name === 'address' || name === 'key')
    .map(({ name, ok, fix }) => `${name} ${!ok ? 'FAIL' : fix === undefined ? 'ok' : 'warn'}`)
  expect(shown.join(', ')).toBe(expected)
  expect(code).toBe(expected.includes('FAIL') ? 1 : 0)
})

test('shows the runtime', () => {
  expect(describeRuntime({ node: '24.1.0' }).detail).toBe('24.1.0')
  expect(describeRuntime({ node: '24.3.0', bun: '1.3.0' }).detail).toBe('Bun 1.3.0, as Node 24.3.0')
  expect(describeRuntime({ node: '24.2.0', deno: '2.5.0' }).detail).toBe('Deno 2.5.0, as Node 24.2.0')
})

test('shows the source of each option, and warns if enabled is false', () => {
  const env = {
    PINO_INGEST_ENABLED: 'false',
    PINO_INGEST_API_KEY_FILE: '/key',
    PINO_INGEST_TAGS: 'a,b',
    PINO_INGEST_SEND_LEVEL: 'debug',
  }
  const { check } = checkOptions({ url: 'https://logs.example.com/api/v1' }, { env, readFile: () => KEY })
  expect(check).toMatchObject({ ok: true, fix: expect.stringContaining('PINO_INGEST_ENABLED') })
  expect(check.detail).toBe(
    'enabled false (PINO_INGEST_ENABLED), url https://logs.example.com/api/v1 (--url), ' +
      'apiKey (PINO_INGEST_API_KEY_FILE, not shown), tags (PINO_INGEST_TAGS), sendLevel debug (PINO_INGEST_SEND_LEVEL), all others by default',
  )
  expect(checkVariables({ ...env, PINO_INGEST_ZZZZZZZZZZ: '1', OTHER: '1' })).toMatchObject([
    { detail: expect.stringContaining('ZZZ'), fix: 'unset it' },
  ])
})

test('with nats, names the variable with the servers, and what uses the key', () => {
  const env = {
    PINO_INGEST_URL: 'https://logs.example.com/api/v1',
    PINO_INGEST_API_KEY_FILE: '/key',
    PINO_INGEST_NATS_SERVERS: 'nats://127.0.0.1:4222',
  }
  const { check, settings } = checkOptions({}, { env, readFile: () => KEY })
  expect(check.detail).toMatch(/^url nats:\S+ \(PINO_INGEST_NATS_SERVERS\)/)
  expect(checkKeyUse(settings)).toEqual([
    { name: 'apiKey', ok: true, detail: expect.stringContaining('pino-ingest forward') as string },
  ])
})

test('shows the values from OTEL_RESOURCE_ATTRIBUTES, or that it is ignored', () => {
  const detailOf = (env: Record<string, string>): string => checkOptions({}, { env, readFile: () => '' }).check.detail
  const text = 'service.name=shop,service.version=1.4.0'
  expect(detailOf({ OTEL_RESOURCE_ATTRIBUTES: text, PINO_INGEST_VERSION: '2' })).toContain(
    'service shop (OTEL_RESOURCE_ATTRIBUTES), version 2 (PINO_INGEST_VERSION)',
  )
  expect(checkVariables({ OTEL_RESOURCE_ATTRIBUTES: text })).toEqual([])
  expect(checkVariables({ OTEL_RESOURCE_ATTRIBUTES: `${text},team` })).toMatchObject([
    { ok: true, detail: expect.stringMatching(/OTEL_RESOURCE_ATTRIBUTES is ignored: "team"/) as string },
  ])
})

describe('doctor --report', () => {
  const sections = (text: string): string[] => [...text.matchAll(/^## (.*)$/gm)].map(([, name]) => name ?? '')
  const ORDER = ['Versions', 'Checks', 'Spool']
  const PROXY_PASSWORD = 'proxy-pass-61f0'
  const HEADER = 'header-value-9a77c1'

  test('versions, configuration with origins, checks and spool; no secret and no entry', async () => {
    const root = scratch()
    const dead = join(root, '0123456789abcdef', 'dead')
    mkdirSync(dead, { recursive: true, mode: 0o700 })
    const letter = (status: number): string =>
      `${JSON.stringify({ at: '2026-01-01', batch_id: 'b', index: 0, status, code: 'invalid', field: '', reason: 'quoted words' }).slice(0, -1)},"entry":{"message":"quoted words"}}\n`
    writeFileSync(join(dead, 'a-1.ndjson'), letter(422) + letter(422) + letter(413))
    const env = {
      PINO_INGEST_URL: 'http://127.0.0.1:9/api/v1',
      PINO_INGEST_API_KEY: KEY,
      PINO_INGEST_HEADERS: JSON.stringify({ 'x-tenant': HEADER }),
      PINO_INGEST_PROXY: `http://user:${PROXY_PASSWORD}@127.0.0.1:9`,
      PINO_INGEST_BATCH: '{"intervalMs":500}',
      PINO_INGEST_BATCH_SIZE: '7',
      PINO_INGEST_SPOOL_DIR: root,
    }
    leave(root, entriesUpTo(2), { url: env.PINO_INGEST_URL, apiKey: KEY, end: 'closed' })
    const { code, out: report } = await runInProcess(['doctor', '--report'], env)
    expect(code).toBe(1)
    expect(sections(report)).toEqual(ORDER)
    for (const secret of [KEY, HEADER, PROXY_PASSWORD, 'quoted words', 'hello']) expect(report).not.toContain(secret)
    expect(report).toContain('apiKey (PINO_INGEST_API_KEY, not shown)')
    expect(report).toContain('headers (PINO_INGEST_HEADERS, not shown)')
    expect(report).toMatch(/batch \{.*"size":7.*\} \(PINO_INGEST_BATCH, PINO_INGEST_BATCH_SIZE\)/)
    expect(report).toMatch(/^pino \d+\.\d+\.\d+$/m)
    expect(report).toMatch(/^FAIL +address/m)
    expect(report).toMatch(/^ +2 x 422 invalid\n +1 x 413 invalid$/m)
    expect(report).toMatch(/closed +pid \d+ +1 segment .* 2 entries/)
  })

  test('an invalid configuration and a folder that does not exist: the same sections', async () => {
    const { code, out } = await runInProcess(['doctor', '--report'], {
      PINO_INGEST_URL: 'nonsense',
      PINO_INGEST_API_KEY: KEY,
      PINO_INGEST_SPOOL_DIR: join(scratch(), 'none'),
    })
    expect(code).toBe(2)
    expect(sections(out)).toEqual(ORDER)
    expect(out).toContain('does not exist')
    expect(out).not.toContain(KEY)
  })
})
