/**
 * Libraries in their supported versions, with the shops of `apps/frameworks`: by the worker, by the stream and by the
 * pipe. In `same lines`, one run writes each line to the worker, to the stream and to a file, which is then piped, and
 * sent with `pino-ingest send`: the same entries and request logs must arrive from all four.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIngestService } from 'pino-ingest/service'
import { canonicalJson, countErrors, differences, readArrived } from '../kit/arrivals.mjs'
import { compare } from '../kit/comparison.mjs'
import { driveServer } from '../kit/server.mjs'
import { abort, SECRETS, TOKEN, visit } from '../kit/visits.mjs'
import { SHOPS } from './frameworks.mjs'

const COLUMNS = /** @type {const} */ (['worker', 'stream', 'pipe', 'same lines'])
/** They write to the stream to the worker. */
const OTHER_LOGGERS = ['bunyan', 'winston']
const CLI = 'node_modules/.bin/pino-ingest'

/** Level of the entry by the method that was called. */
const LEVELS = { trace: 'debug', debug: 'debug', info: 'info', warn: 'warn', error: 'error', fatal: 'fatal' }
const WINSTON_LEVELS = {
  silly: 'debug',
  debug: 'debug',
  verbose: 'debug',
  http: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
}
/** Nothing is sent but traces, to a port of this machine that nobody listens on. */
const DATADOG = {
  DD_TRACE_AGENT_URL: 'http://127.0.0.1:9',
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_REMOTE_CONFIGURATION_ENABLED: 'false',
}
const NESTED = { part: 'stock', order: { lines: [{ sku: 'a', price: 12.5 }], note: null } }

/**
 * @typedef {object} Library
 * @property {string} name
 * @property {readonly string[]} command behind `node`
 * @property {readonly string[]} packages that the row names
 * @property {import('../../../src/index.js').IngestOptions['pino']} [keys] of pino
 * @property {import('../kit/types.d.mts').Environment} [variables] the same for the pipe
 * @property {Partial<import('../kit/comparison.mjs').Facts>} [facts] that differ from those in group `frameworks`
 * @property {object} counts what must arrive
 * @property {string} counts.errors entries with an error, by its type
 * @property {number} counts.requestLogs 3 if the aborted request has none
 * @property {number} counts.aborted entries about the aborted request
 */

const COUNTS = { errors: '2 PaymentError', requestLogs: 4, aborted: 1 }
/** pino-http adds `failed with status code 500`. It logs an aborted request as such, before version 7 not at all. */
const HTTP_COUNTS = { errors: '1 Error, 2 PaymentError', requestLogs: 3, aborted: 1 }
/** The error is also logged by Nest itself, and in version 10 its stack as text. */
const NEST_COUNTS = { ...HTTP_COUNTS, errors: '3 PaymentError' }
const PINO = { name: 'pino', command: ['pino.mjs'], packages: ['pino'], counts: COUNTS }
/** pino tells the worker its keys and levels; the stream and the pipe need options. */
const PINO_KEYS = {
  ...PINO,
  name: '`messageKey`, `errorKey`, `customLevels`, pino',
  keys: { messageKey: 'text', errorKey: 'failure', customLevels: { audit: 35 } },
  variables: { PINO_INGEST_PINO: '{"messageKey":"text","errorKey":"failure","customLevels":{"audit":35}}' },
}
const EXPRESS = {
  name: 'Express',
  command: ['otel.cjs'],
  packages: ['express', 'pino-http', 'pino'],
  counts: HTTP_COUNTS,
}
const FASTIFY = {
  name: 'Fastify',
  command: ['fastify.mjs'],
  packages: ['fastify', 'pino'],
  // Fastify logs an aborted request as incoming, and as closed prematurely.
  counts: { ...COUNTS, requestLogs: 3, aborted: 2 },
}
const NEST = {
  name: 'NestJS',
  command: ['nest.js'],
  packages: ['@nestjs/core', 'nestjs-pino', 'pino-http', 'pino'],
  counts: NEST_COUNTS,
}
const PINO_9 = ['pino@9.14.0', '@opentelemetry/api@1.9.1', 'express@4.22.3']
const PINO_10 = ['pino@10.4.0', '@opentelemetry/api@1.9.1', 'express@5.3.0']
const nest = (/** @type {string} */ version) => [
  ...['core', 'common', 'platform-express'].map((name) => `@nestjs/${name}@${version}`),
  'nestjs-pino@4.6.1',
  'reflect-metadata@0.2.2',
  'rxjs@7.8.2',
  'typescript@5.9.3',
  '@types/node@22.20.5',
]

/** @type {readonly { readonly packages: readonly string[], readonly libraries: readonly Library[] }[]} */
const SETS = [
  {
    packages: [...PINO_9, 'pino-http@6.6.0'],
    libraries: [PINO, PINO_KEYS, { ...EXPRESS, counts: { ...HTTP_COUNTS, aborted: 0 } }],
  },
  { packages: [...PINO_9, 'pino-http@7.1.0'], libraries: [EXPRESS] },
  { packages: [...PINO_9, 'pino-http@8.6.1'], libraries: [EXPRESS] },
  { packages: [...PINO_10, 'pino-http@9.0.0'], libraries: [EXPRESS] },
  {
    packages: [...PINO_9, 'pino-http@10.5.0', 'fastify@4.29.1', ...nest('10.4.22')],
    libraries: [
      EXPRESS,
      FASTIFY,
      {
        ...NEST,
        facts: { lacks: ['cause', 'code'] },
        counts: { ...NEST_COUNTS, errors: '1 Error, 3 PaymentError' },
      },
    ],
  },
  {
    packages: [
      ...PINO_10,
      'pino-http@11.0.0',
      'fastify@5.12.8',
      ...nest('11.2.10'),
      'koa@3.3.0',
      'koa-pino-logger@5.0.0',
      '@hapi/hapi@21.4.10',
      'hapi-pino@13.0.0',
      'hono@4.13.19',
      'hono-pino@0.10.3',
      '@hono/node-server@2.1.9',
      '@elastic/ecs-pino-format@1.5.0',
      '@google-cloud/pino-logging-gcp-config@1.3.6',
      '@opentelemetry/instrumentation@0.223.0',
      '@opentelemetry/instrumentation-http@0.223.0',
      '@opentelemetry/instrumentation-pino@0.69.0',
      '@opentelemetry/sdk-trace-node@2.12.0',
      'dd-trace@5.132.0',
      'bunyan@2.0.5',
      'winston@3.19.0',
      'express-winston@4.2.0',
    ],
    libraries: [
      PINO,
      PINO_KEYS,
      EXPRESS,
      FASTIFY,
      NEST,
      { name: 'Koa', command: ['koa.mjs'], packages: ['koa', 'koa-pino-logger'], counts: HTTP_COUNTS },
      { name: 'hapi', command: ['hapi.mjs'], packages: ['@hapi/hapi', 'hapi-pino'], counts: COUNTS },
      { name: 'Hono', command: ['hono.mjs'], packages: ['hono', 'hono-pino'], counts: COUNTS },
      { name: 'ECS format', command: ['ecs.mjs'], packages: ['@elastic/ecs-pino-format'], counts: COUNTS },
      {
        name: 'ECS format',
        command: ['ecs-pino-http.mjs'],
        packages: ['@elastic/ecs-pino-format', 'pino-http'],
        counts: HTTP_COUNTS,
      },
      {
        name: 'Google Cloud format',
        command: ['gcp.mjs'],
        packages: ['@google-cloud/pino-logging-gcp-config'],
        counts: COUNTS,
      },
      {
        name: 'OpenTelemetry instrumentation-pino',
        command: ['-r', './otel-tracing.cjs', 'otel.cjs'],
        packages: ['@opentelemetry/instrumentation-pino'],
        counts: HTTP_COUNTS,
      },
      {
        name: 'dd-trace',
        command: ['-r', './dd-tracing.cjs', 'otel.cjs'],
        packages: ['dd-trace'],
        counts: HTTP_COUNTS,
      },
      { name: 'bunyan', command: ['bunyan.mjs'], packages: ['bunyan'], counts: COUNTS },
      {
        name: 'winston',
        command: ['winston.mjs'],
        packages: ['winston', 'express-winston'],
        // express-winston does not log an aborted request.
        counts: { ...COUNTS, requestLogs: 3, aborted: 0 },
      },
    ],
  },
]

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const kept = join(kit.scratch, 'libraries')
    mkdirSync(kept)
    for (const [place, { packages, libraries }] of SETS.entries()) {
      const folder = kit.folder(`libraries-${place}`, { type: 'module' })
      kit.copyApp('frameworks', folder)
      kit.install(folder, [kit.tarball, ...packages])
      if (libraries.some(({ name }) => name === 'NestJS'))
        kit.exec([process.execPath, join(folder, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder })
      for (const library of libraries)
        for (const column of COLUMNS) yield createCell(kit, library, column, folder, join(kept, String(place)))
    }
  },
}

/**
 * @param {import('../kit/types.d.mts').Kit} kit @param {Library} library @param {(typeof COLUMNS)[number]} column
 * @param {string} folder of the shops @param {string} prefix of kept files
 * @returns {import('../kit/types.d.mts').Cell}
 */
function createCell(kit, library, column, folder, prefix) {
  const { name, command, packages, keys = {} } = library
  const file = `${prefix}-${command.join('').replaceAll(/[^\w]/g, '')}-${column.replace(' ', '-')}${library.keys === undefined ? '' : '-keys'}`
  const lines = `${file}.ndjson`
  const versions = packages.map((one, place) => `${place === 0 ? name : one} ${kit.versionIn(folder, one)}`)
  /** @type {Parameters<typeof compare>[1]} */
  let asked
  let abortedId = ''
  /** What arrived elsewhere of the same lines. @type {Record<string, import('../kit/arrivals.mjs').Arrived>} */
  const others = {}
  let note = ''
  return {
    table: 'libraries',
    row: versions.join(', '),
    column,
    note: () => note,
    drive: async (env) => {
      const all = {
        ...env,
        PINO_INGEST_REQUEST_LOGS: 'true',
        PINO_INGEST_SEND_LEVEL: 'trace',
        LEVEL: 'trace',
        ...DATADOG,
      }
      const piped = { ...all, ...library.variables }
      const stream = await createIngestService()
      const startedAt = Date.now()
      /** @type {import('../kit/visits.mjs').Visit[]} */
      let visits = []
      try {
        const run = await driveServer([process.execPath, ...command], {
          cwd: folder,
          env: {
            ...all,
            WAY: column === 'worker' && !OTHER_LOGGERS.includes(name) ? 'transport' : column,
            LINES_FILE: lines,
            KEYS: JSON.stringify(keys),
            STREAM_OPTIONS: JSON.stringify({ pino: keys, ...(column === 'same lines' && { url: stream.url }) }),
          },
          endCode: 0,
          ask: async (base) => {
            visits = await visit(base)
            abortedId = await abort(base)
            return undefined
          },
        })
        asked = { startedAt, endedAt: Date.now(), visits }
        if (run.code !== 0) return run
        if (column === 'pipe') {
          writeFileSync(lines, run.stdout)
          return await kit.run(['sh', '-c', `${CLI} --quiet < '${lines}'`], { cwd: folder, env: piped })
        }
        if (column === 'same lines') {
          others['stream'] = readArrived(stream)
          for (const [way, shell] of [
            ['pipe', `${CLI} --quiet < '${lines}'`],
            ['send', `${CLI} send '${lines}'`],
          ]) {
            const service = await createIngestService()
            const own = { ...piped, PINO_INGEST_URL: service.url, PINO_INGEST_SPOOL_DIR: `${file}-spool-${way}` }
            const sent = await kit.run(['sh', '-c', shell ?? ''], { cwd: folder, env: own })
            others[way ?? ''] = readArrived(service)
            await service.close()
            if (sent.code !== 0) return sent
          }
        }
        return run
      } finally {
        await stream.close()
      }
    },
    compare: (service) => {
      const arrived = readArrived(service)
      writeFileSync(`${file}.json`, JSON.stringify({ asked, ...arrived, others }, undefined, 2))
      const shop = SHOPS.find((one) => one.command.at(-1) === command.at(-1))
      const facts = { end: /^request completed$/, failedEnd: /** @type {const} */ ('info'), ...shop?.facts('pipe') }
      note = `${arrived.requestLogs.length} request logs, errors: ${countErrors(arrived)}`
      const problems = {
        ...compare(arrived, asked, { ...facts, ...library.facts }),
        ...compareContent(arrived, library, abortedId),
      }
      if (column === 'worker' || column === 'stream') return problems
      const count = readFileSync(lines, 'utf8').trimEnd().split('\n').length
      note = `${count} lines, ${note}`
      const missing = count === arrived.entries.length ? [] : [`${count} lines`]
      if (column === 'pipe') return { ...problems, lines: missing }
      const identical = Object.entries(others).flatMap(([way, other]) =>
        differences(way === 'send' ? asSent(arrived) : arrived, other).map((text) => `${way}: ${text}`),
      )
      return { ...problems, lines: missing, identical }
    },
  }
}

/** `pino-ingest send` creates no breadcrumbs and request logs. @param {import('../kit/arrivals.mjs').Arrived} arrived */
function asSent({ entries }) {
  return { entries: entries.map(({ breadcrumbs: _breadcrumbs, ...entry }) => entry), requestLogs: [] }
}

/** @param {import('../kit/arrivals.mjs').Arrived} arrived @param {Library} library @param {string} abortedId of a request */
function compareContent(arrived, { name, keys, counts }, abortedId) {
  const json = JSON.stringify(arrived)
  const levels = name === 'winston' ? WINSTON_LEVELS : { ...LEVELS, ...(keys && { audit: 'info' }) }
  const nested = arrived.entries
    .filter(({ message }) => message === 'nested')
    .map(({ metadata }) => canonicalJson({ part: metadata?.['part'], order: metadata?.['order'] }))
  const isAborted = (/** @type {object} */ entry) =>
    JSON.stringify({ ...entry, breadcrumbs: undefined }).includes(abortedId)
  const found = {
    errors: countErrors(arrived),
    requestLogs: arrived.requestLogs.length,
    aborted: arrived.entries.filter(isAborted).length,
  }
  return {
    levels: Object.entries(levels).flatMap(([method, level]) => {
      const own = arrived.entries.filter(({ message }) => message === `at ${method}`).map((entry) => entry.level)
      return own.join() === level ? [] : [`'at ${method}' has ${own.join() || 'no entry'}, not ${level}`]
    }),
    nested: nested.join() === canonicalJson(NESTED) ? [] : [nested.join()],
    counts: canonicalJson(found) === canonicalJson(counts) ? [] : [canonicalJson(found)],
    secrets: [...SECRETS, TOKEN].filter((secret) => json.includes(secret)),
  }
}
