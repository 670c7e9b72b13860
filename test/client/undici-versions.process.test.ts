/** Delivery with each version of undici that an installation may have. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { cleanEnv } from '../process/run-app.js'
import { KEY, httpsServer, pem, proxyServer } from './http-servers.js'
import type { TestServer } from './http-servers.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const { dependencies, devDependencies } = createRequire(import.meta.url)(join(root, 'package.json')) as Record<
  string,
  Record<string, string>
>

/** Installs a package `undici` that has only the public entry point. */
function publicOnly(folder: string, manifest: object): void {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'undici', main: 'index.js', ...manifest }))
  writeFileSync(
    join(folder, 'index.js'),
    `module.exports = require(${JSON.stringify(join(root, 'node_modules/undici'))})`,
  )
}

const LOGS = `
  const pino = require('pino')
  const { flush, ingestStream } = require('pino-ingest')
  const logger = pino(ingestStream({ spool: false, batch: { size: 10 }, retry: { maxMs: 250 }, ...JSON.parse(process.argv[2]) }))
  async function main() {
    for (let at = 0; at < 60; at += 1) {
      logger.info({ at }, 'entry')
      if (at % 20 === 19) await flush(logger)
    }
    console.log(Object.keys(require.cache).some((name) => /undici[^/]*.index\\.js$/.test(name)) ? 'all' : 'parts')
  }
  void main()`

/** @returns the numbers of the entries that were answered by 200, sorted, and how much of undici was loaded */
async function deliver(
  install: (folder: string) => void,
  server: TestServer,
  accepted: readonly string[],
  options: object = {},
): Promise<{ entries: number[]; loaded: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-undici-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const modules = join(dir, 'node_modules')
  mkdirSync(join(modules, 'pino-ingest'), { recursive: true })
  cpSync(join(root, 'dist'), join(modules, 'pino-ingest/dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(modules, 'pino-ingest/package.json'))
  symlinkSync(join(root, 'node_modules/pino'), join(modules, 'pino'))
  install(join(modules, 'undici'))
  writeFileSync(join(dir, 'logs.cjs'), LOGS)
  const given = JSON.stringify({ url: `${server.origin}/api/v1`, apiKey: KEY, ...options })
  const { stdout, stderr } = await run(process.execPath, ['logs.cjs', given], { cwd: dir, env: cleanEnv() })
  expect(stderr).toBe('')
  const entries = accepted.flatMap((body) => (JSON.parse(body) as { logs: { metadata: { at: number } }[] }).logs)
  return { entries: entries.map(({ metadata }) => metadata.at).toSorted((a, b) => a - b), loaded: stdout.trim() }
}

/** Answers the first request with 503, closes the connection of the second, and accepts all others. */
function failsTwice(accepted: string[]): Parameters<typeof httpsServer>[1] {
  let requests = 0
  return (response, { body }) => {
    requests += 1
    if (requests === 1) return void response.writeHead(503).end()
    if (requests === 2) return void response.socket?.destroy()
    accepted.push(body)
    const { length } = (JSON.parse(body) as { logs: unknown[] }).logs
    response.end(JSON.stringify({ accepted: length, rejected: 0, errors: [] }))
  }
}

const ALL = Array.from({ length: 60 }, (_, at) => at)
const link = (name: string) => (folder: string) => symlinkSync(join(root, 'node_modules', name), folder)

const tls = { ca: pem('ca.crt') }

test.each<[string, (folder: string) => void, string]>([
  ['the oldest version of the range', link('undici-7.24'), 'parts'],
  ['the newest version of the range', link('undici'), 'parts'],
  ['a version that exports only its main module', (folder) => publicOnly(folder, { exports: './index.js' }), 'all'],
  ['a version whose modules have other names', (folder) => publicOnly(folder, {}), 'all'],
])('%s delivers each entry once through a 503 and a reset, over few TLS connections', async (_, install, loaded) => {
  const accepted: string[] = []
  const server = await httpsServer({}, failsTwice(accepted))
  expect(await deliver(install, server, accepted, { tls })).toEqual({ entries: ALL, loaded })
  expect(server.connections()).toBeLessThan(accepted.length)
})

test.each(['undici-7.24', 'undici'])('%s delivers through a proxy', async (version) => {
  const accepted: string[] = []
  const server = await httpsServer({}, failsTwice(accepted))
  const proxy = await proxyServer()
  const delivered = await deliver(link(version), server, accepted, { tls, proxy: proxy.origin })
  expect(delivered).toEqual({ entries: ALL, loaded: 'all' })
  expect(proxy.tunnels.length).toBeGreaterThan(0)
})

test('the oldest version is the one that the range begins with', () => {
  expect(devDependencies?.['undici-7.24']).toBe(`npm:undici@${dependencies?.['undici']?.replace('^', '')}`)
})
