/** Custom expressions that are expensive to match, with the worst lines for them: lines logged afterwards arrive. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { startApp } from './run-app.js'

const KEY = 'hard-lines-key-5c1e'
const SECRET = 'sk-4711-4711-4711'
const EXPRESSIONS = [
  String.raw`sk-(?:[a-z0-9]+-?)+\b`,
  String.raw`(\w{1,10}){1,10}\b`,
  String.raw`[a-z]+[a-z0-9]*\b`,
  'a(?:.*z)?',
]

test('expensive lines do not stop the lines after them', async () => {
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(() => service.close())
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-hard-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const line = (fields: object): string => `${JSON.stringify({ level: 30, time: 1_763_740_800_000, ...fields })}\n`
  const hard = 'a'.repeat(8_000)
  const raw = join(folder, 'lines.ndjson')
  writeFileSync(
    raw,
    [
      ...[hard, `sk-${hard}`, `${hard}_`, `sk-${'a-'.repeat(4_000)}$`, 'a '.repeat(4_000)].map((msg) => line({ msg })),
      line({ msg: `${SECRET} ${'a'.repeat(2_000_000)}` }),
      line({ msg: 'many texts', texts: Array.from({ length: 5_000 }, (_, n) => `${n} ${'a'.repeat(100)}`) }),
      line({ msg: `after ${SECRET}`, isLast: true }),
    ].join(''),
  )
  const app = startApp({
    mode: 'target',
    raw,
    end: 'flush',
    options: { url: service.url, apiKey: KEY, spool: false, maxEntryBytes: 65_536, scrub: { patterns: EXPRESSIONS } },
  })
  onTestFinished(() => void app.child.kill('SIGKILL'))
  await app.heard('flushed')
  await expect.poll(() => service.entries({ limit: Infinity }).items.length, { timeout: 20_000 }).toBe(8)
  const entries = service.entries({ limit: Infinity }).items.map(({ entry }) => entry)
  expect(
    entries.filter(({ metadata }) => metadata?.['isLast'] === true || metadata?.['[scrubbed]'] === true),
  ).toHaveLength(1)
  expect(entries.filter(({ message }) => message.includes('4711'))).toEqual([])
}, 60_000)
