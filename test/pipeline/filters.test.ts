/** Filters, their summaries, and an account that balances in every report. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { AccountSnapshot } from '../../src/diagnostics/account.js'
import type { HookFunction } from '../../src/filter/load-hook.js'
import { loadHookSync } from '../../src/filter/load-hook.js'
import { piped } from './create-pipeline.js'

function hookOf(code: string): HookFunction {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-hook-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'hook.cjs'), `module.exports = ${code}`)
  return loadHookSync('./hook.cjs', [], folder)
}

const boom = {
  level: 50,
  err: { type: 'Error', message: 'boom', stack: 'Error: boom\n    at f (/app/a.js:1:2)' },
  msg: 'boom',
}

test('counts entries removed by sampling, deduplication and the hook as filtered, the summary as generated', async () => {
  const hook = hookOf('(entry) => entry.message === "drop me" ? null : { ...entry, tags: ["seen"] }')
  const { write, arrived, pipeline } = await piped({ sample: { info: 0.5 }, dedupeWindowMs: 60_000 }, {}, hook)
  write(...Array.from({ length: 10 }, (_, n) => ({ msg: `info ${n}` })), boom, boom, boom, {
    level: 40,
    msg: 'drop me',
  })
  const entries = await arrived()
  expect(entries.map(({ message }) => message)).toEqual([
    ...[0, 2, 4, 6, 8].map((n) => `info ${n}`),
    'boom',
    expect.stringMatching(/^boom \(repeated 2 times/),
  ])
  expect(entries.every(({ tags }) => tags?.[0] === 'seen')).toBe(true)
  expect(pipeline.snapshot).toMatchObject({
    received: 14,
    generated: 1,
    accepted: 7,
    filtered: 8,
    pending: 0,
    balances: true,
  })
})

test('scrubs values that the hook adds, even in a summary, and uses the level that it sets', async () => {
  const hook = hookOf(
    '(entry) => ({ ...entry, level: "warn", metadata: { mail: "jane@example.com", at: "/x?token=s3cret" } })',
  )
  const { write, arrived } = await piped({ dedupeWindowMs: 60_000, scrub: { patterns: ['email'] } }, {}, hook)
  write(boom, boom)
  for (const { level, metadata } of await arrived()) {
    expect(level).toBe('warn')
    expect(metadata).toMatchObject({ mail: '[email]', at: '/x?token=[scrubbed]' })
  }
})

test('an error dropped by the hook leaves its breadcrumbs to the next error', async () => {
  const { write, arrived } = await piped({}, {}, hookOf('(entry) => entry.message === "noise" ? null : entry'))
  write({ level: 20, msg: 'step' }, { level: 50, msg: 'noise' }, { level: 50, msg: 'real' })
  const [entry] = await arrived()
  expect(entry?.breadcrumbs?.map(({ message }) => message)).toEqual(['step', 'noise'])
})

test('an entry that a pattern lengthens stays within its limit', async () => {
  const { write, arrived } = await piped({ scrub: { patterns: ['[0-9]'] }, maxEntryBytes: 4_096 })
  write({ text: 'x'.repeat(3_500) + '1'.repeat(100), msg: 'm' })
  const [entry] = await arrived()
  expect(Buffer.byteLength(JSON.stringify(entry))).toBeLessThanOrEqual(4_096)
  expect(entry?.metadata?.['pino_ingest']).toMatchObject({ shortened_from_bytes: expect.any(Number) })
})

test('every reported account balances, even if entries are dropped while a record is processed', async () => {
  const { write, reported, service, pipeline } = await piped({
    dedupeWindowMs: 1,
    requestLogs: true,
    maxBufferBytes: 1024 * 1024,
    batch: { size: 5 },
    maxConcurrency: 1,
  })
  service.faults.add({ kind: 'status', status: 503 })
  for (let n = 0; n < 900; n += 1) {
    write(
      { ...boom, level: 40, n, pad: 'x'.repeat(2_000) },
      {
        level: 40,
        req: { id: n, method: 'GET', url: '/a' },
        res: { statusCode: 200 },
        responseTime: 1,
        pad: 'x'.repeat(2_000),
        msg: 'done',
      },
    )
  }
  const accounts = reported
    .filter(({ name }) => name === 'ingest:stats')
    .map(({ payload }) => payload as AccountSnapshot)
  expect(accounts.length).toBeGreaterThan(0)
  expect(pipeline.snapshot.dropped.buffer).toBeGreaterThan(0)
  for (const account of [...accounts, pipeline.snapshot])
    expect([account.balances, account.requestLogs?.balances]).toEqual([true, true])
})
