/** Next.js: a route handler that logs, built by Turbopack and webpack, with `next start` and as a standalone server. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { driveServer, get } from '../kit/server.mjs'

/** Next exits with 128 plus the signal number. */
const SIGTERM_CODE = 143
const BUILD_ENV = { NEXT_TELEMETRY_DISABLED: '1', PINO_INGEST_ENABLED: 'false' }
const WAYS = /** @type {const} */ ([
  ['worker thread', 'worker'],
  ['in-process', 'stream'],
])
const BUILD = '`PINO_INGEST_ENABLED=false next build`'
const SETTINGS = 'the [settings](#nextjs) above'

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const folder = kit.folder('next')
    kit.install(folder, [
      kit.tarball,
      'next@16',
      'react@19',
      'react-dom@19',
      'pino@10',
      'typescript@5.9',
      '@types/node@22',
      '@types/react@19',
    ])
    const next = `Next ${kit.versionIn(folder, 'next')}`
    const program = join(folder, 'node_modules/next/dist/bin/next')
    const build = (/** @type {readonly string[]} */ apps, /** @type {readonly string[]} */ flags = []) => {
      for (const part of ['.next', 'app', 'lib', 'next.config.ts'])
        rmSync(join(folder, part), { recursive: true, force: true })
      for (const app of apps) kit.copyApp(`next/${app}`, folder)
      kit.exec([process.execPath, program, 'build', ...flags], { cwd: folder, env: BUILD_ENV })
    }
    const drive =
      (/** @type {readonly string[]} */ command, /** @type {string} */ cwd, /** @type {string} */ way) =>
      (/** @type {import('../kit/types.d.mts').Environment} */ env) =>
        driveServer(command, {
          cwd,
          env: { ...env, NEXT_TELEMETRY_DISABLED: '1' },
          ask: get(`/api/${way}`),
          endCode: SIGTERM_CODE,
        })

    for (const [bundler, flags] of /** @type {const} */ ([
      ['Turbopack', []],
      ['webpack', ['--webpack']],
    ])) {
      build(['app'], flags)
      for (const [column, way] of WAYS) {
        yield {
          table: 'tools',
          row: `${next}, \`next start\``,
          column,
          kind: bundler,
          takes: BUILD,
          drive: drive([process.execPath, program, 'start', '-H', '127.0.0.1'], folder, way),
        }
      }
    }
    // Only the server's own files, outside the application's node_modules.
    const standalone = (/** @type {string} */ name) => {
      const copy = join(kit.scratch, 'next-servers', name)
      cpSync(join(folder, '.next/standalone'), copy, { recursive: true })
      return copy
    }
    const server = [process.execPath, 'server.js']
    build(['app', 'standalone'])
    const plain = standalone('plain')
    yield {
      table: 'tools',
      row: `${next}, standalone, no other setting`,
      column: 'worker thread',
      takes: '`ingestStream()`',
      drive: drive(server, plain, 'worker'),
      refuses: /unable to determine transport target for "pino-ingest"/,
    }
    yield {
      table: 'tools',
      row: `${next}, standalone, no other setting`,
      column: 'in-process',
      drive: drive(server, plain, 'stream'),
    }
    build(['app', 'standalone', 'standalone-external'])
    const external = standalone('external')
    for (const [column, way] of WAYS)
      yield { table: 'tools', row: `${next}, standalone`, column, takes: SETTINGS, drive: drive(server, external, way) }
  },
}
