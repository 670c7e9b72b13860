/** Each secret of the table, logged in every way through the worker: no secret is in the sent bytes or on disk. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { KEYS, SPELLINGS, keyLeaks, leaks } from '../redaction/leaks.js'
import { cleanEnv } from './run-app.js'

/** Random text, so a part of eight characters is unique, too. */
let marks = 0
const mark = (): string =>
  `q${createHash('sha256')
    .update(String((marks += 1)))
    .digest('hex')
    .slice(0, 24)}`
const MARK = /q[\da-f]{24}/g
let keys = 0
/** Each position gets the next key, in the next spelling. */
const key = (): string => {
  keys += 1
  return (SPELLINGS[keys % SPELLINGS.length] as (typeof SPELLINGS)[number])(KEYS[keys % KEYS.length] as string)
}
const table = [...leaks(mark), ...keyLeaks(mark, key)]

async function run(url: string, dir: string, values: string): Promise<void> {
  const options = { url, apiKey: 'leaks-key', spool: { dir }, requestLogs: true, shutdownTimeoutMs: 1_000 }
  const child = spawn(process.execPath, [fileURLToPath(new URL('leaky.mjs', import.meta.url))], {
    env: cleanEnv({ PLAN: JSON.stringify(options), VALUES: values }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  expect(code, stderr).toBe(0)
  expect(leakedRows(stderr)).toEqual([])
}

function bytesIn(folder: string): string {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')
}

/** The rows whose secret, eight characters of it, or its base64 is in the text. */
function leakedRows(text: string): string[] {
  return table
    .filter(({ value }) => {
      const written = JSON.stringify(value)
      const encoded = (written.match(/[A-Za-z0-9+/]{16,}=*/g) ?? []).filter((one) =>
        MARK.test(Buffer.from(one, 'base64').toString('latin1')),
      )
      return [...(written.match(MARK) ?? []), ...encoded].some((secret) =>
        Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)).some((part) =>
          text.includes(part),
        ),
      )
    })
    .map(({ source }) => source)
}

test('the table is complete', () => {
  expect(table.length).toBeGreaterThanOrEqual(60)
  for (const { source, value } of table) expect(leakedRows(JSON.stringify(value)), source).toContain(source)
})

test('no secret of the table reaches the service or the disk', { timeout: 120_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-leaks-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  let isDown = true
  let received = ''
  let accepted = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      received += body
      if (isDown) return void response.writeHead(503).end()
      const { logs } = JSON.parse(body) as { logs?: unknown[] }
      accepted += logs?.length ?? 0
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ accepted: logs?.length ?? 0, rejected: 0, message: 'ok', errors: [] }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const values = join(dir, 'values.json')
  writeFileSync(values, JSON.stringify(table.map(({ value }) => value)))
  const spool = join(dir, 'spool')
  await run(url, spool, values)
  const stored = bytesIn(spool)
  expect(stored).toContain('a member') // the service was down: everything is on disk
  isDown = false
  await run(url, spool, values)
  expect(accepted).toBeGreaterThanOrEqual(table.length * 4)
  expect({ stored: leakedRows(stored), received: leakedRows(received) }).toEqual({ stored: [], received: [] })
})
