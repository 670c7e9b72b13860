/**
 * Errors of well-known libraries, created by the libraries themselves: compares each entry with the original error.
 * With `--update` also writes `test/matrix/errors.md`.
 */
import { writeFileSync } from 'node:fs'

/**
 * @typedef {object} Expected
 * @property {string} [type]
 * @property {RegExp} message
 * @property {RegExp} [cause] in the stack, behind its own frames
 * @property {Record<string, unknown>} [kept] in `metadata.error`
 * @property {true} [lacksFrames] the library removes them, or there never were any
 * @property {number} [maxBytes] of the entry
 */

const WAYS = /** @type {const} */ (['transport', 'ingestOptions()'])
const ASPECTS = ['arrived', 'type', 'message', 'stack', 'cause', 'properties', 'secrets', 'size']
/** The limit for an entry with a stack of about 20 frames. */
const MAX_BYTES = 4_000

const ADDRESS = String.raw`connect ECONNREFUSED 127\.0\.0\.\d:\d+`
const REFUSED = new RegExp(`^${ADDRESS}$`)
const ALL_REFUSED = new RegExp(`^${ADDRESS}; ${ADDRESS}$`)
const kept = (/** @type {string} */ code) => ({ code })

/** @type {Readonly<Record<string, { readonly packages: readonly string[], readonly cases: Readonly<Record<string, Expected>> }>>} */
const LIBRARIES = {
  axios: {
    packages: ['axios'],
    cases: {
      'status 500': {
        type: 'AxiosError',
        message: /^Request failed with status code 500$/,
        kept: { code: 'ERR_BAD_RESPONSE', status: 500, method: 'post' },
      },
      refused: {
        type: 'AxiosError',
        message: REFUSED,
        cause: /Error: connect ECONNREFUSED/,
        kept: { code: 'ECONNREFUSED', method: 'get' },
      },
      'refused, all addresses': {
        type: 'AxiosError',
        message: ALL_REFUSED,
        cause: /AggregateError/,
        kept: kept('ECONNREFUSED'),
      },
      timeout: { type: 'AxiosError', message: /^timeout of 50ms exceeded$/, kept: kept('ECONNABORTED') },
      reset: {
        type: 'AxiosError',
        message: /^socket hang up$/,
        cause: /Error: socket hang up/,
        kept: kept('ECONNRESET'),
      },
      canceled: { type: 'CanceledError', message: /^canceled$/, kept: kept('ERR_CANCELED') },
      'wrong URL': { type: 'TypeError', message: /^Invalid URL$/, kept: kept('ERR_INVALID_URL') },
    },
  },
  undici: {
    packages: ['undici'],
    cases: {
      refused: { type: 'Error', message: REFUSED, kept: kept('ECONNREFUSED') },
      'refused, all addresses': {
        type: 'AggregateError',
        message: ALL_REFUSED,
        cause: /error 2 of 2: Error: connect/,
        kept: kept('ECONNREFUSED'),
      },
      'headers timeout': {
        type: 'HeadersTimeoutError',
        message: /^Headers Timeout Error$/,
        kept: kept('UND_ERR_HEADERS_TIMEOUT'),
      },
      'body timeout': { type: 'BodyTimeoutError', message: /^Body Timeout Error$/, kept: kept('UND_ERR_BODY_TIMEOUT') },
      reset: { type: 'SocketError', message: /^other side closed$/, kept: kept('UND_ERR_SOCKET') },
      'status 500': {
        type: 'ResponseError',
        message: /^Response Error$/,
        kept: { statusCode: 500 },
        lacksFrames: true,
      },
      aborted: { type: 'AbortError', message: /^This operation was aborted$/ },
      'fetch: refused': { type: 'TypeError', message: /^fetch failed$/, cause: /Error: connect ECONNREFUSED/ },
      'fetch: refused, all addresses': { type: 'TypeError', message: /^fetch failed$/, cause: /AggregateError/ },
      'fetch: reset': { type: 'TypeError', message: /^fetch failed$/, cause: /SocketError: other side closed/ },
      'fetch: timeout': { type: 'TimeoutError', message: /^The operation was aborted due to timeout$/ },
      'fetch: aborted': { type: 'AbortError', message: /^This operation was aborted$/ },
      'fetch: no URL': { type: 'TypeError', message: /^fetch failed$/, cause: /Error: unknown scheme/ },
    },
  },
  pg: {
    packages: ['pg'],
    cases: {
      refused: { type: 'Error', message: REFUSED, kept: kept('ECONNREFUSED') },
      'refused, all addresses': {
        type: 'AggregateError',
        message: ALL_REFUSED,
        cause: /error 2 of 2: Error: connect/,
        kept: kept('ECONNREFUSED'),
      },
      'wrong password': {
        type: 'DatabaseError',
        message: /^password authentication failed/,
        kept: { code: '28P01', severity: 'FATAL' },
      },
      'duplicate key': {
        type: 'DatabaseError',
        message: /^duplicate key value/,
        kept: { code: '23505', table: 'users', constraint: 'users_email_key' },
      },
      'syntax error': {
        type: 'DatabaseError',
        message: /^syntax error at or near "FORM"$/,
        kept: { code: '42601', position: '10' },
      },
      'connection ended': { type: 'Error', message: /^Connection terminated unexpectedly$/ },
      'pool timeout': {
        type: 'Error',
        message: /^Connection terminated due to connection timeout$/,
        cause: /Connection terminated unexpectedly/,
      },
    },
  },
  mysql2: {
    packages: ['mysql2'],
    cases: {
      refused: { type: 'Error', message: REFUSED, kept: kept('ECONNREFUSED') },
      'refused, all addresses': {
        type: 'AggregateError',
        message: ALL_REFUSED,
        cause: /error 2 of 2: Error: connect/,
        kept: kept('ECONNREFUSED'),
      },
      'wrong password': { type: 'Error', message: /^Access denied for user/, kept: kept('ER_ACCESS_DENIED_ERROR') },
      'duplicate key': {
        type: 'Error',
        message: /^Duplicate entry/,
        kept: { code: 'ER_DUP_ENTRY', sql: 'INSERT INTO users (email, password) VALUES (?, ?)' },
      },
      'syntax error': {
        type: 'Error',
        message: /^You have an error in your SQL syntax/,
        kept: { code: 'ER_PARSE_ERROR', sql: 'SELECT * FORM users' },
      },
      'connection ended': { type: 'Error', message: /^Connection lost/, kept: kept('PROTOCOL_CONNECTION_LOST') },
    },
  },
  mongodb: {
    packages: ['mongodb'],
    cases: {
      'server selection': {
        type: 'MongoServerSelectionError',
        message: REFUSED,
        cause: /MongoNetworkError[^]*caused by: Error: connect/,
      },
      'wrong URL': { type: 'MongoParseError', message: /^Protocol and host list are required/ },
      'not connected': { type: 'MongoNotConnectedError', message: /^Client must be connected/ },
      'duplicate key': {
        type: 'MongoServerError',
        message: /^E11000 duplicate key/,
        kept: { code: 11000, codeName: 'DuplicateKey' },
      },
      'bulk write': { type: 'MongoBulkWriteError', message: /^E11000 duplicate key error$/, kept: { code: 11000 } },
    },
  },
  ioredis: {
    packages: ['ioredis'],
    cases: {
      'max retries': { type: 'MaxRetriesPerRequestError', message: /^Reached the max retries per request limit/ },
      refused: { type: 'Error', message: /^Connection is closed\.$/ },
      'no queue': { type: 'Error', message: /^Stream isn't writeable/ },
      'wrong type': { type: 'SimpleError', message: /^WRONGTYPE/, kept: { command: 'lpush' } },
      'wrong password': { type: 'SimpleError', message: /^WRONGPASS/, kept: { command: 'AUTH' } },
      'pipeline discarded': { type: 'SimpleError', message: /^WRONGTYPE/, kept: { command: 'lpush' } },
    },
  },
  aws: {
    packages: ['@aws-sdk/client-s3', '@aws-sdk/client-dynamodb'],
    cases: {
      'S3: no such key': {
        type: 'NoSuchKey',
        message: /^The specified key does not exist\.$/,
        kept: { $fault: 'client', Key: 'orders/7' },
      },
      'S3: forbidden': { type: 'AccessDenied', message: /^Access Denied$/, kept: { Code: 'AccessDenied' } },
      'S3: not its reply': { type: 'S3ServiceException', message: /^UnknownError$/, kept: { $fault: 'server' } },
      'S3: refused': { type: 'Error', message: REFUSED, kept: kept('ECONNREFUSED') },
      'S3: timeout': { type: 'TimeoutError', message: /50 ms requestTimeout/, kept: kept('ETIMEDOUT') },
      'S3: aborted': { type: 'AbortError', message: /^Request aborted$/ },
      'DynamoDB: condition': {
        type: 'ConditionalCheckFailedException',
        message: /^The conditional request failed$/,
        kept: { $fault: 'client' },
      },
    },
  },
  zod: {
    packages: ['zod', 'zod3'],
    cases: {
      'zod 4': { type: 'ZodError', message: /^\[\n {2}\{/, maxBytes: 20_000 },
      'zod 3': { type: 'ZodError', message: /^\[\n {2}\{/, maxBytes: 20_000 },
    },
  },
  prisma: {
    packages: ['@prisma/client'],
    cases: {
      'unique constraint': {
        type: 'PrismaClientKnownRequestError',
        message: /Unique constraint failed/,
        kept: { code: 'P2002', meta: { modelName: 'User', target: ['email'] } },
      },
      validation: { type: 'PrismaClientValidationError', message: /Argument `email` is missing/ },
      initialization: {
        type: 'PrismaClientInitializationError',
        message: /^Can't reach database server/,
        kept: { errorCode: 'P1001' },
      },
      unknown: { type: 'PrismaClientUnknownRequestError', message: /^Inconsistent column data$/ },
    },
  },
  node: {
    packages: [],
    cases: {
      'AbortSignal.timeout': { type: 'TimeoutError', message: /^The operation was aborted due to timeout$/ },
      'AbortSignal.abort': { type: 'AbortError', message: /^This operation was aborted$/ },
      'timer aborted': {
        type: 'AbortError',
        message: /^The operation was aborted$/,
        cause: /TimeoutError/,
        kept: kept('ABORT_ERR'),
      },
      AggregateError: {
        type: 'AggregateError',
        message: /^All promises were rejected$/,
        cause: /error 2 of 2: RangeError: second/,
      },
      'all addresses refused': {
        type: 'AggregateError',
        message: ALL_REFUSED,
        cause: /error 2 of 2: Error: connect/,
        kept: kept('ECONNREFUSED'),
      },
      'request refused': { type: 'Error', message: REFUSED, kept: kept('ECONNREFUSED') },
      cause: { type: 'Error', message: /^no order$/, cause: /TypeError: no price[^]*caused by: Error: no row/ },
      'cause that is no error': { type: 'Error', message: /^no order$/ },
      'wrong argument': { type: 'TypeError', message: /encoding/, kept: kept('ERR_INVALID_ARG_VALUE') },
      'no file': {
        type: 'Error',
        message: /^ENOENT/,
        kept: { code: 'ENOENT', syscall: 'open', path: '/no/such/file' },
      },
      'no URL': { type: 'TypeError', message: /^Invalid URL$/, kept: kept('ERR_INVALID_URL') },
      'no JSON': { type: 'SyntaxError', message: /is not valid JSON$/ },
      assertion: { type: 'AssertionError', message: /^not the same/, kept: kept('ERR_ASSERTION'), maxBytes: 20_000 },
      'child process': { type: 'Error', message: /^Command failed/, kept: { code: 3, killed: false } },
      'broken stream': { type: 'Error', message: /^incorrect header check$/, kept: kept('Z_DATA_ERROR') },
      'stack overflow': { type: 'RangeError', message: /^Maximum call stack size exceeded$/ },
      text: { message: /^thrown as text$/, lacksFrames: true },
    },
  },
}

/** @typedef {import('../../../src/protocol/log-entry.js').LogEntry} LogEntry */

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const folder = kit.folder('errors', { type: 'module' })
    kit.copyApp('errors', folder)
    const names = Object.values(LIBRARIES).flatMap(({ packages }) => packages)
    kit.install(folder, [kit.tarball, 'pino@10', ...names.map((name) => (name === 'zod3' ? 'zod3@npm:zod@3' : name))])
    /** @type {string[]} */
    const lines = []
    for (const [library, { packages, cases }] of Object.entries(LIBRARIES)) {
      const versions = packages.map((name) => `${name.replace('zod3', 'zod')} ${kit.versionIn(folder, name)}`)
      const row = `errors of ${versions.join(', ') || `Node ${process.versions.node}`}`
      /** @type {Map<string, LogEntry>[]} */
      const arrived = []
      for (const way of WAYS)
        yield {
          table: 'applications',
          row,
          column: way,
          command: [process.execPath, 'run.mjs', library, way],
          cwd: folder,
          compare: (service) => {
            const entries = service.entries({ limit: 1000 }).items.map(({ entry }) => entry)
            const byCase = new Map(entries.map((entry) => [String(entry.metadata?.['case']), entry]))
            arrived.push(byCase)
            return compare(byCase, cases)
          },
        }
      lines.push(...Object.keys(cases).map((name) => formatLine(versions, name, arrived)))
    }
    if (process.argv.includes('--update')) writeFileSync(new URL('../errors.md', import.meta.url), formatTable(lines))
  },
}

/** @param {ReadonlyMap<string, LogEntry>} arrived @param {Readonly<Record<string, Expected>>} cases */
function compare(arrived, cases) {
  const problems = /** @type {Record<string, string[]>} */ (Object.fromEntries(ASPECTS.map((aspect) => [aspect, []])))
  const expect = (
    /** @type {string} */ aspect,
    /** @type {string} */ name,
    /** @type {boolean} */ holds,
    /** @type {unknown} */ actual,
  ) => {
    if (!holds) problems[aspect]?.push(`${name}: ${JSON.stringify(actual)}`)
  }
  for (const name of arrived.keys()) expect('arrived', name, Object.hasOwn(cases, name), 'has no row')
  for (const [name, wanted] of Object.entries(cases)) {
    const entry = arrived.get(name)
    expect('arrived', name, entry !== undefined, undefined)
    if (entry === undefined) continue
    const { type, message = '', stack = '' } = entry.error ?? {}
    const json = JSON.stringify(entry)
    expect('type', name, type === wanted.type, type)
    expect('message', name, wanted.message.test(message), message)
    expect('stack', name, wanted.lacksFrames === true || /\n +at /.test(stack), stack)
    const [, ...folded] = stack.split(/\n(?=caused by: |error \d+ of \d+: )/)
    expect('cause', name, wanted.cause?.test(folded.join('\n')) ?? true, stack)
    const error = /** @type {Record<string, unknown>} */ (entry.metadata?.['error'] ?? {})
    for (const [key, value] of Object.entries(wanted.kept ?? {}))
      expect('properties', `${name}: ${key}`, JSON.stringify(error[key]) === JSON.stringify(value), error[key])
    expect('secrets', name, !json.includes('secret-'), json.match(/secret-\w+/)?.[0])
    expect('size', name, sizeOf(entry) <= (wanted.maxBytes ?? MAX_BYTES), sizeOf(entry))
  }
  return problems
}

/** The breadcrumbs belong to the case before. @param {LogEntry} entry */
function sizeOf({ breadcrumbs: _breadcrumbs, ...entry }) {
  return Buffer.byteLength(JSON.stringify(entry))
}

/** @param {readonly string[]} versions @param {string} name @param {readonly ReadonlyMap<string, LogEntry>[]} arrived by way */
function formatLine(versions, name, arrived) {
  const entry = arrived.at(-1)?.get(name)
  const { type = '', message = '', stack = '' } = entry?.error ?? {}
  const error = /** @type {Record<string, unknown>} */ (entry?.metadata?.['error'] ?? {})
  const omitted = /** @type {{ omitted_http_members?: number } | undefined} */ (entry?.metadata?.['pino_ingest'])
  const sizes = arrived.map((one) => one.get(name)).map((one) => (one === undefined ? '–' : sizeOf(one)))
  const cells = [
    versions.join(', ') || 'Node',
    name,
    type,
    shorten(message),
    stack.match(/\n +at /g)?.length ?? 0,
    stack
      .match(/\n(?:caused by|error \d+ of \d+): [\w ]*/g)
      ?.map((text) => text.trim())
      .join('; ') ?? '',
    Object.keys(error).join(', '),
    omitted?.omitted_http_members ?? '',
    sizes.join(', '),
  ]
  return `| ${cells.map((cell) => String(cell).replaceAll('|', String.raw`\|`)).join(' | ')} |`
}

/** One line, without the ports of this run. @param {string} text */
function shorten(text) {
  const line = text
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(127\.0\.0\.\d):\d+/g, '$1')
  return line.length <= 70 ? line : `${line.slice(0, 70)}…`
}

/** @param {readonly string[]} lines */
function formatTable(lines) {
  return `# Errors as they arrive

Written by \`npm run test:matrix -- errors --update\`: each error was made by its library and logged with \`ingestOptions()\`; the last
column also has the size without it. Properties are in \`metadata.error\`.

| library | error | \`type\` | \`message\` | frames | in the stack | properties | omitted HTTP members | bytes: transport, \`ingestOptions()\` |
|---|---|---|---|---|---|---|---|---|
${lines.join('\n')}
`
}
