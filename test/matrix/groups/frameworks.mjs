/** Frameworks in their supported versions, and formats of other loggers: compares the entries with the requests and the logged records. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compare } from '../kit/comparison.mjs'
import { driveServer } from '../kit/server.mjs'
import { visit } from '../kit/visits.mjs'

const NEWEST = [
  'pino@10',
  'fastify@5',
  'express@5',
  'pino-http@11',
  '@nestjs/core@12',
  '@nestjs/common@12',
  '@nestjs/platform-express@12',
  'nestjs-pino@5',
  'reflect-metadata',
  'rxjs@7',
  'koa@3',
  'koa-pino-logger@5',
  '@hapi/hapi@21',
  'hapi-pino@13',
  'hono@4',
  'hono-pino@0.10',
  '@hono/node-server@2',
  '@elastic/ecs-pino-format@1',
  '@google-cloud/pino-logging-gcp-config@1',
  '@opentelemetry/api@1',
  '@opentelemetry/instrumentation',
  '@opentelemetry/instrumentation-http',
  '@opentelemetry/instrumentation-pino',
  '@opentelemetry/sdk-trace-node@2',
  'bunyan@2',
  'winston@3',
  'express-winston@4',
  'dd-trace@5',
  'typescript@5.9',
  '@types/node@22',
]
const WAYS = /** @type {const} */ (['transport', 'ingestOptions()', 'pipe'])
const OLDER_WAYS = /** @type {const} */ (['transport', 'pipe'])
/** The defaults of pino-http. */
const ENDS = /^request (?:completed|errored)$/
const DEFAULT_FAILURE = { level: 'info', type: 'Error', message: 'failed with status code 500' }

/**
 * File, packages that the row names, facts by way. Nest needs a newer Node.
 * @typedef {object} Shop
 * @property {readonly string[]} command behind `node`
 * @property {string} name
 * @property {readonly string[]} packages
 * @property {readonly (typeof WAYS)[number][]} [ways]
 * @property {(way: (typeof WAYS)[number]) => import('../kit/types.d.mts').Environment} [env]
 * @property {(way: (typeof WAYS)[number]) => import('../kit/comparison.mjs').Facts} facts
 */

const named = (/** @type {Readonly<Record<string, string>>} */ customAttributeKeys) => ({
  PINO_INGEST_PINO: JSON.stringify({ customAttributeKeys }),
})

/** @type {readonly Shop[]} */
export const SHOPS = [
  {
    name: 'Fastify',
    packages: ['fastify'],
    command: ['fastify.mjs'],
    facts: (way) => ({
      end: /^request completed$/,
      failedEnd: 'info',
      // Fastify logs no headers.
      lacks: ['user agent'],
      ...(way === 'ingestOptions()' && { route: '/orders/:id' }),
    }),
  },
  {
    name: 'Express',
    packages: ['express', 'pino-http'],
    command: ['express.mjs'],
    facts: (way) =>
      way === 'ingestOptions()'
        ? { end: ENDS, failedEnd: 'error', route: '/orders/:id' }
        : { end: ENDS, failedEnd: 'info', failure: DEFAULT_FAILURE },
  },
  {
    name: '`requestIdLogLabel`, Fastify',
    packages: ['fastify'],
    command: ['fastify-label.mjs'],
    env: () => named({ reqId: 'trackingId' }),
    facts: (way) => ({
      end: /^request completed$/,
      failedEnd: 'info',
      lacks: ['user agent'],
      ...(way === 'ingestOptions()' && { route: '/orders/:id' }),
    }),
  },
  {
    name: '`customAttributeKeys`, pino-http',
    packages: ['pino-http'],
    command: ['pino-http-keys.mjs'],
    // The keys are set in pino-http's own options.
    env: (way) =>
      way === 'ingestOptions()' ? {} : named({ req: 'httpReq', res: 'httpRes', responseTime: 'timeTaken' }),
    facts: (way) =>
      way === 'ingestOptions()'
        ? { end: ENDS, failedEnd: 'error', route: '/orders/:id' }
        : { end: ENDS, failedEnd: 'info' },
  },
  {
    name: 'NestJS',
    packages: ['@nestjs/core', 'nestjs-pino'],
    command: ['nest.js'],
    facts: (way) =>
      way === 'ingestOptions()'
        ? { end: ENDS, failedEnd: 'error', route: '/orders/:id' }
        : { end: ENDS, failedEnd: 'info' },
  },
  {
    name: 'Koa',
    packages: ['koa', 'koa-pino-logger'],
    command: ['koa.mjs'],
    facts: (way) => ({ end: ENDS, failedEnd: way === 'ingestOptions()' ? 'error' : 'info' }),
  },
  {
    name: 'hapi',
    packages: ['@hapi/hapi', 'hapi-pino'],
    command: ['hapi.mjs'],
    facts: () => ({ end: /^\[response\] get /, failedEnd: 'info' }),
  },
  {
    name: 'Hono',
    packages: ['hono', 'hono-pino'],
    command: ['hono.mjs'],
    // The error's own record comes first, with the same message.
    facts: () => ({ end: /^(?:Request completed|card declined)$/, failedEnd: 'error', lacks: ['ip'] }),
  },
  {
    name: 'ECS format',
    packages: ['@elastic/ecs-pino-format'],
    command: ['ecs.mjs'],
    facts: () => ({ end: /^handled request$/, failedEnd: 'info', lacks: ['cause', 'code'], service: 'ecs-shop' }),
  },
  {
    name: 'ECS format',
    packages: ['@elastic/ecs-pino-format', 'pino-http'],
    command: ['ecs-pino-http.mjs'],
    facts: () => ({ end: ENDS, failedEnd: 'info', lacks: ['cause', 'code'] }),
  },
  {
    name: 'Google Cloud format',
    packages: ['@google-cloud/pino-logging-gcp-config'],
    command: ['gcp.mjs'],
    facts: () => ({ end: /^request completed$/, failedEnd: 'info', service: 'gcp-shop' }),
  },
  {
    name: 'OpenTelemetry instrumentation-pino',
    packages: ['@opentelemetry/instrumentation-pino'],
    command: ['-r', './otel-tracing.cjs', 'otel.cjs'],
    facts: () => ({ end: ENDS, failedEnd: 'info' }),
  },
  {
    name: 'bunyan',
    packages: ['bunyan'],
    command: ['bunyan.mjs'],
    ways: ['pipe'],
    facts: () => ({ end: /^request finished$/, failedEnd: 'info', lacks: ['cause'], service: 'bunyan-shop' }),
  },
  {
    name: 'winston',
    packages: ['winston', 'express-winston'],
    command: ['winston.mjs'],
    ways: ['pipe'],
    facts: () => ({
      end: /^HTTP GET /,
      failedEnd: 'info',
      lacks: ['cause', 'ip'],
      messages: { 'payment failed': 'card declined' },
    }),
  },
]

/** The OpenTelemetry shop is Express and pino-http. dd-trace sends traces to a port of this machine that nobody listens on. */
const EXPRESS = {
  name: 'Express',
  packages: ['express', 'pino-http', 'pino'],
  command: ['otel.cjs'],
  ways: OLDER_WAYS,
  facts: () => ({ end: ENDS, failedEnd: /** @type {const} */ ('info') }),
}
const DD_TRACE = {
  ...EXPRESS,
  name: 'dd-trace',
  packages: ['dd-trace'],
  command: ['-r', './dd-tracing.cjs', 'otel.cjs'],
  env: () => ({
    DD_TRACE_AGENT_URL: 'http://127.0.0.1:9',
    DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
    DD_REMOTE_CONFIGURATION_ENABLED: 'false',
  }),
}
const FASTIFY = {
  .../** @type {Shop} */ (SHOPS.find(({ name }) => name === 'Fastify')),
  packages: ['fastify', 'pino'],
  ways: OLDER_WAYS,
}
const NEST = {
  .../** @type {Shop} */ (SHOPS.find(({ name }) => name === 'NestJS')),
  packages: ['@nestjs/core', 'nestjs-pino', 'pino-http', 'pino'],
  ways: OLDER_WAYS,
}
const PINO_9 = ['pino@9.14.0', '@opentelemetry/api@1.9.1', 'express@4.22.3']
const PINO_10 = ['pino@10.4.0', '@opentelemetry/api@1.9.1', 'express@5.3.0']
const nest = (/** @type {string} */ version) => [
  ...['core', 'common', 'platform-express'].map((name) => `@nestjs/${name}@${version}`),
  ...['nestjs-pino@4.6.1', 'reflect-metadata@0.2.2', 'rxjs@7.8.2', 'typescript@5.9.3', '@types/node@22.20.5'],
]

/** Entries of Nest 10 have the stack as text. @type {readonly { readonly packages: readonly string[], readonly shops: readonly Shop[] }[]} */
const SETS = [
  { packages: NEWEST, shops: [...SHOPS, DD_TRACE] },
  ...['6.6.0', '7.1.0', '8.6.1'].map((version) => ({
    packages: [...PINO_9, `pino-http@${version}`],
    shops: [EXPRESS],
  })),
  { packages: [...PINO_10, 'pino-http@9.0.0'], shops: [EXPRESS] },
  {
    packages: [...PINO_9, 'pino-http@10.5.0', 'fastify@4.29.1', ...nest('10.4.22')],
    shops: [EXPRESS, FASTIFY, { ...NEST, facts: (way) => ({ ...NEST.facts(way), lacks: ['cause', 'code'] }) }],
  },
  { packages: [...PINO_10, 'pino-http@11.0.0', ...nest('11.2.10')], shops: [NEST] },
]

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    for (const [index, { packages, shops }] of SETS.entries()) {
      const folder = kit.folder(`frameworks-${index}`, { type: 'module' })
      kit.copyApp('frameworks', folder)
      kit.install(folder, [kit.tarball, ...packages])
      if (packages.some((name) => name.startsWith('typescript')))
        kit.exec([process.execPath, join(folder, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder })
      for (const shop of shops) for (const way of shop.ways ?? WAYS) yield createCell(kit, shop, way, folder)
    }
  },
}

/** @param {import('../kit/types.d.mts').Kit} kit @param {Shop} shop @param {(typeof WAYS)[number]} way @param {string} folder @returns {import('../kit/types.d.mts').Cell} */
function createCell(kit, { name, packages: [main = '', ...beside], command, env: own, facts }, way, folder) {
  const kept = join(kit.scratch, 'arrived')
  mkdirSync(kept, { recursive: true })
  const file = join(kept, `${command.at(-1)}-${way.replace('()', '')}`)
  const row = [`${name} ${kit.versionIn(folder, main)}`, ...beside.map((one) => `${one} ${kit.versionIn(folder, one)}`)]
  const node = main.startsWith('@nestjs') ? kit.node('24') : process.execPath
  /** @type {import('../kit/visits.mjs').Visit[]} */
  let visits = []
  let startedAt = 0
  let endedAt = 0
  return {
    table: 'applications',
    row: row.join(', '),
    column: way,
    drive: async (env) => {
      startedAt = Date.now()
      const all = { ...env, PINO_INGEST_REQUEST_LOGS: 'true', ...own?.(way) }
      const run = await driveServer([node, ...command], {
        cwd: folder,
        env: { ...all, WAY: way },
        endCode: 0,
        ask: async (base) => {
          visits = await visit(base)
          return undefined
        },
      })
      endedAt = Date.now()
      if (way !== 'pipe' || run.code !== 0) return run
      writeFileSync(`${file}.ndjson`, run.stdout)
      // The time of receipt differs from the time of the log call.
      const pipe = `node_modules/.bin/pino-ingest --quiet < '${file}.ndjson'`
      return kit.run(['sh', '-c', pipe], { cwd: folder, env: all })
    },
    compare: (service) => {
      const arrived = {
        entries: service
          .entries({ limit: 1000 })
          .items.toSorted((a, b) => a.seq - b.seq)
          .map(({ entry }) => entry),
        requestLogs: service.requestLogs({ limit: 1000 }).items.map(({ request }) => request),
      }
      const asked = { startedAt, endedAt, visits }
      writeFileSync(`${file}.json`, JSON.stringify({ asked, ...arrived }, undefined, 2))
      return compare(arrived, asked, facts(way))
    },
  }
}
