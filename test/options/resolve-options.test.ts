import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { serialize } from 'node:v8'
import { afterEach, describe, expect, test } from 'vitest'
import { resolveOptions, toThreshold } from '../../src/options/resolve-options.js'
import type { Settings } from '../../src/options/resolve-options.js'
import type { OptionName } from '../../src/options/option-table.js'
import { problem, resolve } from './resolve.js'
import type { Env } from './resolve.js'

const KEY = 'canary-key-4711'
const PLACE = { url: 'https://logs.example.com/api/v1', apiKey: KEY }
const pem = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url)), 'utf8')

/** The option `name`, or the member at that path. */
function at(name: string, value: unknown): Record<string, unknown> {
  const [option = '', member] = name.split('.')
  return { [option]: member === undefined ? value : { [member]: value } }
}

describe('precedence: code, environment, default', () => {
  test('without options uses the defaults of the table', () => {
    const settings = resolve()
    expect(settings).toMatchObject({
      enabled: false,
      proxy: false,
      tags: [],
      metadata: {},
      batch: { size: 100, intervalMs: 1_000 },
      requestLogs: { enabled: false, only: false, ignore: [] },
    })
    for (const name of ['service', 'environment', 'version', 'deploy', 'tls', 'sample'])
      expect(settings).not.toHaveProperty(name)
  })

  // A value in code, the text of the variable, and the resulting value. `variables.test.ts` has each variable.
  test.each<[string, unknown, string, string, unknown]>([
    ['enabled', true, 'PINO_INGEST_ENABLED', 'FALSE', false],
    ['url', 'https://a.example/api/v1', 'PINO_INGEST_URL', 'https://b.example/api/v1/', 'https://b.example/api/v1'],
    ['service', 'a', 'PINO_INGEST_SERVICE', 'b', 'b'],
    ['environment', 'a', 'NODE_ENV', 'b', 'b'],
    ['registerRelease', false, 'PINO_INGEST_REGISTER_RELEASE', '1', true],
    ['tags', ['a'], 'PINO_INGEST_TAGS', ' b,, c ', ['b', 'c']],
    ['metadata', { a: 1 }, 'PINO_INGEST_METADATA', '{"b":2}', { b: 2 }],
    ['sendLevel', 'trace', 'PINO_INGEST_SEND_LEVEL', 'fatal', 'fatal'],
    ['batch.size', 1, 'PINO_INGEST_BATCH_SIZE', '99', 99],
  ])('%s', (name, inCode, variable, text, read) => {
    const env = { PINO_INGEST_URL: PLACE.url, PINO_INGEST_API_KEY: KEY, [variable]: text }
    expect(resolve({}, env)).toHaveProperty(name, read)
    expect(resolve(at(name, inCode), env)).toHaveProperty(name, inCode)
    expect(resolve(at(name, undefined), env)).toHaveProperty(name, read)
    // An empty variable counts as absent.
    expect(resolve(at(name, inCode), { ...env, [variable]: '' })).toHaveProperty(name, inCode)
    expect(resolve({}, { PINO_INGEST_API_KEY: KEY, [variable]: '' })).toEqual(resolve({}, { PINO_INGEST_API_KEY: KEY }))
  })

  test('the first of two variables wins', () => {
    expect(resolve({}, { PINO_INGEST_SERVICE: 'a', OTEL_SERVICE_NAME: 'b' }).service).toBe('a')
    expect(resolve({}, { PINO_INGEST_ENVIRONMENT: 'a', NODE_ENV: 'b' }).environment).toBe('a')
  })

  test('false in code overrides the environment', () => {
    expect(resolve({ enabled: false }, { PINO_INGEST_ENABLED: 'true' }).enabled).toBe(false)
    expect(resolve({ ...PLACE, proxy: false }, { HTTPS_PROXY: 'http://proxy:3128' }).proxy).toBe(false)
    expect(
      problem(
        { ...PLACE, url: 'http://logs.example.com/api/v1', allowInsecure: false },
        { PINO_INGEST_ALLOW_INSECURE: '1' },
      ),
    ).toContain('https')
  })

  test('ignores a wrong variable if the option is set in code', () => {
    expect(resolve({ batch: { size: 5 } }, { PINO_INGEST_BATCH_SIZE: 'many' }).batch.size).toBe(5)
  })

  test("the application's package sets the version and the fallback service; variables of npm and npx set nothing", () => {
    const inApp = (env: Record<string, string>): Settings =>
      resolveOptions({}, { env, readFile: String, readAppPackage: () => ({ name: 'app', version: '1.2.3' }) })
    expect(inApp({})).toMatchObject({ fallbackService: 'app', version: '1.2.3' })
    expect(inApp({ PINO_INGEST_VERSION: '4' })).toMatchObject({ fallbackService: 'app', version: '4' })
    const ofNpm = resolve({}, { npm_package_name: 'other', npm_package_version: '9' })
    expect(ofNpm).not.toHaveProperty('fallbackService')
    expect(ofNpm).not.toHaveProperty('version')
  })

  test("uses pino's own levels without customLevels", () => {
    const levels = { audit: 35 }
    expect(resolve({ levels }).pino.customLevels).toEqual({ audit: 35 })
    expect(resolve({ levels, pino: { customLevels: { notice: 25 } } }).pino.customLevels).toEqual({ notice: 25 })
  })
})

describe('a wrong value: the message names option or variable, rule and value', () => {
  test.each<[object, string, string]>([
    [{ enabled: null }, 'enabled', 'null'],
    [{ service: '' }, 'service', '""'],
    [{ service: () => 'x' }, 'service', 'a function'],
    [{ service: Symbol('x') }, 'service', 'Symbol(x)'],
    [{ service: new Map([['a', 1]]) }, 'service', 'an instance of Map: {}'],
    [{ service: 'x'.repeat(5_000).split('') }, 'service', '…'],
    [{ batch: { size: 101 } }, 'batch.size', 'from 1 to 100, got 101'],
    [{ batch: { size: 0 } }, 'batch.size', '0'],
    [{ batch: { size: 1.5 } }, 'batch.size', '1.5'],
    [{ batch: { size: '5' } }, 'batch.size', '"5"'],
    [{ batch: { size: 5n } }, 'batch.size', '5'],
    [{ batch: { size: Number.NaN } }, 'batch.size', 'NaN'],
    [{ maxBufferBytes: Infinity }, 'maxBufferBytes', 'Infinity'],
    [{ shutdownTimeoutMs: 8_001 }, 'shutdownTimeoutMs', 'from 0 to 8000 (ms), got 8001'],
    [{ sendLevel: 'INFO' }, 'sendLevel', 'trace, debug, info, warn, error, fatal, got "INFO"'],
    [{ tags: ['a', 1] }, 'tags', '["a",1]'],
    [{ metadata: [] }, 'metadata', '[]'],
    [{ metadata: new Date(0) }, 'metadata', 'an instance of Date'],
    [{ metadata: { a: 1n } }, 'metadata', ''],
    [{ metadata: { toJSON: () => 'text' } }, 'metadata', ''],
    [{ metadata: { toJSON: () => undefined } }, 'metadata', ''],
    [{ deploy: { commit: 5 } }, 'deploy.commit', '5'],
    [{ pino: { customAttributeKeys: { req: 5 } } }, 'pino.customAttributeKeys.req', '5'],
    [{ requestLogs: { ignore: ['/a', 'health'] } }, 'requestLogs.ignore', '["/a","health"]'],
    [{ requestLogs: { ignore: ['/health?full=1'] } }, 'requestLogs.ignore', '["/health?full=1"]'],
    [{ requestLogs: { ignore: ['/*/health'] } }, 'requestLogs.ignore', '["/*/health"]'],
    [{ sample: { debug: 1.5 } }, 'sample.debug', 'from 0 to 1, got 1.5'],
    [{ pino: { customLevels: { audit: '35' } } }, 'pino.customLevels', '{"audit":"35"}'],
    [{ pino: { customLevels: { '': 35 } } }, 'pino.customLevels', '{"":35}'],
    [{ pino: { customLevels: ['audit'] } }, 'pino.customLevels', '["audit"]'],
  ])('%o', (given, path, value) => {
    expect(problem(given)).toContain(`: ${path} must be `)
    expect(problem(given)).toContain(value)
    expect(problem(given).length).toBeLessThan(300)
  })

  test('a circular value is shown as an object', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    expect(problem({ metadata: circle })).toContain('got an object')
  })

  test.each([
    ['PINO_INGEST_ENABLED', 'constructor', 'got "constructor"'],
    ['PINO_INGEST_BATCH_SIZE', '1e2', 'got "1e2"'],
    ['PINO_INGEST_BATCH_SIZE', '-5', 'got "-5"'],
    ['PINO_INGEST_BATCH_SIZE', '101', 'got 101'],
    ['PINO_INGEST_SEND_LEVEL', '__proto__', 'got "__proto__"'],
    ['PINO_INGEST_METADATA', '{"a":', 'got "{\\"a\\":"'],
    ['PINO_INGEST_METADATA', '[1]', 'got [1]'],
    ['PINO_INGEST_PINO', '{"customLevels":"audit:35"}', 'PINO_INGEST_PINO.customLevels must be level names'],
    ['PINO_INGEST_URL', 'ftp://x/api/v1', 'got "ftp:"'],
  ])('%s=%s', (variable, text, words) => {
    expect(problem({ apiKey: KEY }, { [variable]: text })).toContain(variable)
    expect(problem({ apiKey: KEY }, { [variable]: text })).toContain(words)
  })

  test('reports several problems in one message', () => {
    const message = problem(
      { batch: { size: 0 }, sendLevel: 'x', color: 1 },
      { NODE_ENV: 'production', PINO_INGEST_TAGS: 'ok', PINO_INGEST_ENABLED: 'maybe' },
    )
    for (const name of ['batch.size', 'sendLevel', 'color', 'PINO_INGEST_ENABLED', 'url', 'apiKey'])
      expect(message).toContain(name)
  })

  test.each(['https://logs.example.com', null, 5, [PLACE], new URL(PLACE.url), () => PLACE])(
    'options that are not a plain object: %o',
    (given) => expect(problem(given)).toContain('options must be a plain object, got'),
  )
})

describe('unknown options', () => {
  test.each([
    ['apikey', 'apiKey'],
    ['flushInterval', 'batch.intervalMs'],
    ['host', 'url'],
    ['labels', 'service, environment, tags, metadata'],
    ['release', 'releaseId, registerRelease'],
    ['level', 'sendLevel'],
    ['messageKey', 'pino.messageKey'],
    ['scrubKeys', 'scrub.keys'],
  ])('%s: did you mean %s?', (name, meant) => {
    expect(problem({ ...PLACE, [name]: KEY })).toBe(
      `invalid configuration of pino-ingest: there is no option ${name}, did you mean ${meant}?`,
    )
  })

  test('lists the members of a group, and suggests nothing for a name without a similar option', () => {
    expect(problem({ deploy: { commit: 'a', who: 'b' } })).toContain(
      'deploy has no who, only commit, branch, deployed_by',
    )
    expect(problem({ ...PLACE, zzzzzzzzzz: 1 })).toMatch(/zzzzzzzzzz$/)
  })

  test('a name cannot add a line or make the message long', () => {
    expect(problem({ ...PLACE, 'a\nb': 1 })).toContain('"a\\nb"')
    expect(problem({ ...PLACE, ['x'.repeat(10_000)]: 1 }).length).toBeLessThan(200)
  })

  test('ignores the members that pino adds', () => {
    expect(() => resolve({ ...PLACE, $context: {}, pinoWillSendConfig: true, levels: {}, dedupe: true })).not.toThrow()
  })
})

describe('url and key', () => {
  test.each([
    ['in production', { NODE_ENV: 'production' }, {}],
    ['if the caller needs a URL', {}, { requiresUrl: true }],
  ])('requires both %s', (_, env, sources) => {
    const unset = (): unknown => resolveOptions({}, { env, readFile: () => '', ...sources })
    expect(unset).toThrow(/not configured: url is required \(or PINO_INGEST_URL\); apiKey is required/)
  })

  test('does not require them in production if the transport is disabled', () => {
    const production = { NODE_ENV: 'production' }
    expect(resolve({ enabled: false }, production)).toMatchObject({ enabled: false })
    expect(resolve({ enabled: false }, production)).not.toHaveProperty('warning')
    expect(resolve({}, { ...production, PINO_INGEST_ENABLED: '0' }).enabled).toBe(false)
    expect(resolve(PLACE, production)).toMatchObject({ enabled: true, url: PLACE.url, environment: 'production' })
  })

  test('outside production, nothing is sent or stored without a URL, which is reported', () => {
    const given = { PINO_INGEST_API_KEY: KEY, PINO_INGEST_PREVIOUS_API_KEYS: `${KEY}-1,${KEY}-2` }
    const settings = resolve({ proxy: 'http://proxy.example:3128', headers: { 'x-tenant': 'shop' } }, given)
    expect(settings).toMatchObject({ enabled: false, previousApiKeys: [], headers: {}, proxy: false })
    expect(settings.warning).toContain('npx pino-ingest dev')
    expect(new URL(settings.url).hostname).toMatch(/\.invalid$/)
    expect(settings.apiKey.reveal()).not.toBe(KEY)
    expect(settings.secrets.map((key) => key.reveal())).toEqual(expect.arrayContaining([KEY, `${KEY}-1`, `${KEY}-2`]))
    expect(resolve(PLACE)).not.toHaveProperty('warning')
  })

  test('a service on loopback needs no key', () => {
    for (const url of ['http://127.0.0.1:4319/api/v1', 'http://localhost:1/api/v1', 'http://[::1]:1/api/v1']) {
      expect(resolve({ url }, { NODE_ENV: 'production' })).toMatchObject({ enabled: true, url })
      expect(resolve({ url }).apiKey.reveal()).toBe('local')
      expect(resolve({ url, apiKey: KEY }).apiKey.reveal()).toBe(KEY)
    }
    expect(problem({ url: 'https://logs.example.com/api/v1' })).toContain('apiKey is required')
    for (const url of ['localhost:4319/api/v1', 'logs.example.com/api/v1', 5])
      expect(problem({ url })).not.toContain('apiKey')
  })

  test.each(['with space', 'umlaut-ä', 'newline\n', '', ' ', 5, null, ['k'], () => 'k'])(
    'a key that is not valid in a header: %o',
    (apiKey) => {
      const message = problem({ ...PLACE, apiKey })
      expect(message).toMatch(
        /^invalid configuration of pino-ingest: apiKey must be printable ASCII characters without spaces, got (?:an empty text|.*\(not shown\))$/,
      )
      if (typeof apiKey === 'string' && apiKey.trim() !== '') expect(message).not.toContain(apiKey.trim())
    },
  )

  test('reads the key from its variable or file, trimmed, and reports a problem once', () => {
    const env: Env = { PINO_INGEST_URL: PLACE.url }
    expect(resolve({}, { ...env, PINO_INGEST_API_KEY: ` ${KEY}\n` }).apiKey.reveal()).toBe(KEY)
    const file = { ...env, PINO_INGEST_API_KEY_FILE: '/run/key' }
    expect(resolve({}, file, { '/run/key': `\uFEFF${KEY}\r\n` }).apiKey.reveal()).toBe(KEY)
    expect(resolve({ apiKey: 'code' }, { ...file }).apiKey.reveal()).toBe('code')
    expect(problem({}, file)).toBe(
      'invalid configuration of pino-ingest: cannot read the file in PINO_INGEST_API_KEY_FILE: /run/key (ENOENT)',
    )
    expect(problem({}, { ...env, PINO_INGEST_API_KEY_FILE: KEY })).not.toContain(KEY)
    expect(problem({}, file, { '/run/key': `${KEY}\n${KEY}\n` })).toMatch(
      /PINO_INGEST_API_KEY_FILE.*got text of 2 lines \(not shown\)$/,
    )
    expect(problem({}, file, { '/run/key': '\n' })).toMatch(
      /: PINO_INGEST_API_KEY_FILE must be printable ASCII.*got an empty text$/,
    )
    expect(problem({}, { ...env, PINO_INGEST_API_KEY: `${KEY} ${KEY}` })).not.toContain(KEY)
  })

  test('refuses a variable and a file with different keys, and shows neither', () => {
    const env: Env = {
      PINO_INGEST_URL: PLACE.url,
      PINO_INGEST_API_KEY: ` ${KEY}`,
      PINO_INGEST_API_KEY_FILE: '/run/key',
    }
    const message = problem({}, env, { '/run/key': 'another-key-5521\n' })
    expect(message).toMatch(/PINO_INGEST_API_KEY and PINO_INGEST_API_KEY_FILE /)
    expect(message).not.toMatch(new RegExp(`${KEY}|another-key`))
    expect(resolve({}, env, { '/run/key': `${KEY}\n` }).apiKey.reveal()).toBe(KEY)
    expect(resolve({ apiKey: 'code' }, env, { '/run/key': 'another-key-5521' }).apiKey.reveal()).toBe('code')
    expect(problem({}, env)).toContain('/run/key (ENOENT)')
  })

  test('shows neither if they are swapped', () => {
    const message = problem({ url: KEY, apiKey: PLACE.url })
    expect(message).toMatch(/url.*apiKey/)
    expect(message).not.toContain(KEY)
  })
})

describe('TLS', () => {
  const [ca, cert, key] = [pem('ca.crt'), pem('client.crt'), pem('client.key')]

  test('accepts text, Buffers, and Buffers passed to a worker', () => {
    const wanted = { ca, cert, key }
    expect(resolve({ ...PLACE, tls: wanted }).tls).toEqual(wanted)
    const buffers = { ca: Buffer.from(ca), cert: Buffer.from(cert), key: Buffer.from(key) }
    expect(resolve({ ...PLACE, tls: buffers }).tls).toEqual(wanted)
    const crossed = structuredClone({ ...PLACE, tls: buffers })
    expect(Buffer.isBuffer(crossed.tls.ca)).toBe(false)
    expect(resolve(crossed).tls).toEqual(wanted)
    expect(resolve({ ...PLACE, tls: { ca, cert: undefined } }).tls).toEqual({ ca })
  })

  test('reads the files in the variables', () => {
    const env = { PINO_INGEST_TLS_CA_FILE: '/ca', PINO_INGEST_TLS_CERT_FILE: '/cert', PINO_INGEST_TLS_KEY_FILE: '/key' }
    expect(resolve(PLACE, env, { '/ca': ca, '/cert': cert, '/key': key }).tls).toEqual({ ca, cert, key })
    expect(resolve(PLACE, { PINO_INGEST_TLS_CA_FILE: '/ca' }, { '/ca': ca }).tls).toEqual({ ca })
    expect(problem(PLACE, env, { '/ca': ca, '/cert': cert })).toContain(
      'cannot read the file in PINO_INGEST_TLS_KEY_FILE: /key (ENOENT)',
    )
  })

  test.each<[string, unknown]>([
    ['no PEM', { ca: 'secret-text' }],
    ['a path', { ca: '/etc/ca-secret-text.pem' }],
    ['a list', { ca: [ca] }],
    ['an unknown name', { ca, passphrase: 'secret-text' }],
    ['a certificate without its key', { cert }],
    ['a key alone', { key }],
    ['text', ca],
  ])('rejects %s', (_, tls) => {
    const message = problem({ ...PLACE, tls })
    expect(message).toMatch(/: tls\b/)
    expect(message).not.toMatch(/BEGIN|secret-text/)
  })

  const noKey = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'
  test.each<[string, unknown, RegExp]>([
    ['a damaged CA', { ca: ca.replace(/\n.{20}/, '\nAAAA') }, /ca: /],
    ['a key of another certificate', { cert, key: pem('server.key') }, /ERR_OSSL_X509_KEY_VALUES_MISMATCH/],
    ['a damaged key', { cert, key: noKey }, /cert and key: /],
  ])('detects %s at start', (_, tls, words) => {
    const message = problem({ ...PLACE, tls })
    expect(message).toMatch(words)
    expect(message).not.toContain('BEGIN')
  })
})

describe('robustness', () => {
  test('`__proto__` in metadata and levels is an ordinary name', () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    const fromText = resolve({}, { PINO_INGEST_METADATA: text })
    expect(JSON.stringify(fromText.metadata)).toBe(text)
    expect(JSON.stringify(resolve({ metadata: JSON.parse(text) as unknown }).metadata)).toBe(text)
    const inCode = { pino: { customLevels: JSON.parse('{"__proto__":35}') as unknown } }
    for (const { pino } of [resolve({}, { PINO_INGEST_PINO: '{"customLevels":{"__proto__":35}}' }), resolve(inCode)])
      expect(Object.keys(pino.customLevels ?? {})).toEqual(['__proto__'])
    expect(problem({ batch: JSON.parse('{"__proto__":{"size":5}}') as unknown })).toContain('batch has no __proto__')
    expect(problem(JSON.parse('{"__proto__":{"url":"x"}}'))).toContain('__proto__')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  describe('a polluted Object.prototype', () => {
    afterEach(() => {
      delete (Object.prototype as { url?: string }).url
    })
    test('sets no option', () => {
      // oxlint-disable-next-line eslint/no-extend-native -- the test pollutes the prototype
      Object.defineProperty(Object.prototype, 'url', {
        value: 'https://evil.example/api/v1',
        configurable: true,
        writable: true,
      })
      expect(resolve({}).enabled).toBe(false)
    })
  })

  test('later changes of the options do not change the settings', () => {
    const members = {
      tags: ['a'],
      metadata: { deep: { b: 1 } },
      pino: { customLevels: { c: 1 } },
      deploy: { commit: 'd' },
    }
    const settings = resolve({ ...PLACE, ...members })
    const before = structuredClone(members)
    members.tags.push('x')
    members.metadata.deep.b = 2
    members.pino.customLevels.c = 2
    members.deploy.commit = 'x'
    expect(settings).toMatchObject(before)
    expect(Object.isFrozen(settings)).toBe(true)
  })
})

test('printing, serializing or cloning the settings does not show the key', () => {
  const settings = resolve(PLACE)
  const ways = [
    inspect(settings, { showHidden: true, customInspect: false, getters: true, depth: null }),
    JSON.stringify(settings),
    String(settings.apiKey),
    serialize(settings).toString('latin1'),
    inspect(new Error('x', { cause: settings }), { depth: null }),
  ]
  expect(ways.filter((text) => text.includes(KEY))).toEqual([])
  expect(JSON.stringify(settings)).toContain('[secret]')
  expect(settings.apiKey.reveal()).toBe(KEY)
})

test('severity of levels: trace counts as debug', () => {
  expect((['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const).map(toThreshold)).toEqual([-1, 0, 1, 2, 3, 4])
})

test('masks the key in other options, too', () => {
  const key = 'canary-key-4711-in-the-wrong-place'
  const text = problem({ apiKey: key, sendLevel: key, [key]: 1 })
  expect(text).toContain('sendLevel must be one of')
  expect(text).not.toContain(key)
})

test('logTo debug: messages on stderr and the debug log, also for calls, which have fewer options; code wins', () => {
  const debugOf = (given: object, log?: string, names?: readonly OptionName[]): object => {
    const sources = { env: log === undefined ? {} : { PINO_INGEST_LOG_TO: log }, readFile: () => '' }
    const { logTo, isDebug } = resolveOptions({ apiKey: KEY, ...given }, sources, names)
    return { logTo, isDebug }
  }
  expect(debugOf({})).toEqual({ logTo: 'stderr' })
  expect(debugOf({ logTo: 'debug' })).toEqual({ logTo: 'stderr', isDebug: true })
  expect(debugOf({}, 'debug')).toEqual({ logTo: 'stderr', isDebug: true })
  expect(debugOf({ logTo: 'silent' }, 'debug')).toEqual({ logTo: 'silent' })
  expect(debugOf({}, 'debug', ['url', 'apiKey'])).toMatchObject({ isDebug: true })
})
