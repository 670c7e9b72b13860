/** `pino-ingest query` with the local service. */
import { beforeAll, describe, expect, test } from 'vitest'
import { createIngestService } from '../../../src/service/index.js'
import type { IngestService } from '../../../src/service/index.js'
import { entryOf, ingest } from '../../service/support.js'
import { runInProcess } from '../run-in-process.js'

const TOKEN = 'token-of-the-tests_16'
let service: IngestService

beforeAll(async () => {
  service = await createIngestService({ token: TOKEN })
  const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()
  await ingest(service, [
    entryOf({ message: 'old', level: 'error', service: 'shop', timestamp: at(60) }),
    entryOf({ message: 'older', level: 'error', service: 'shop', timestamp: at(90) }),
    entryOf({ message: 'new', level: 'error', service: 'mail', timestamp: at(1), metadata: { orderId: 4711 } }),
    entryOf({ message: 'fine', service: 'mail', timestamp: at(2) }),
  ])
  return () => service.close()
})

async function query(...args: readonly string[]) {
  const env = { PINO_INGEST_DEV_TOKEN: TOKEN, PINO_INGEST_URL: service.url }
  const { code, out, err } = await runInProcess(['query', ...args], env)
  return { code, lines: out.split('\n').slice(0, -1), err }
}

describe('prints', () => {
  test.each([
    [['level:error'], ['older', 'old', 'new orderId=4711']],
    [['level:error', '--since', '10m'], ['new orderId=4711']],
    [['--', '-level:error'], ['fine']],
    [['level:error -orderId:4711', '-n', '1'], ['old']],
    [[], ['older', 'old', 'fine', 'new orderId=4711']],
  ])('the entries that match %j, the newest last', async (args, messages) => {
    const { code, lines, err } = await query(...args)
    expect([code, lines.map((line) => line.replace(/^.* (?:shop|mail) +/, ''))]).toEqual([0, messages])
    expect(err !== '').toBe(args.includes('-n'))
  })

  test('whole entries with --json', async () => {
    const { lines, err } = await query('orderId:4711', '--json')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(service.entries({ q: 'orderId:4711' }).items)
    expect(err).toBe('')
  })

  test('the values of a field with --by, the most frequent first', async () => {
    expect(await query('--by', 'level')).toEqual({ code: 0, lines: ['3  error', '1  info'], err: '' })
    const { lines } = await query('level:error', '--by', 'service', '--json', '-n', '1')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([{ value: 'shop', count: 2 }])
  })

  test.each([
    [['levl:error'], 'level:error'],
    [['--by', 'orderid'], '--by orderId'],
    [['nothing', '--json'], 'no entry matches'],
  ])('a word and a hint on err if nothing matches %j', async (args, said) => {
    const { code, lines, err } = await query(...args)
    expect({ code, lines }).toEqual({ code: 0, lines: [] })
    expect(err).toContain(said)
  })
})

describe('ends', () => {
  test.each([
    [['level:loud'], 'at character 7'],
    [['--since', 'yesterday'], '--since'],
    [['level:error', 'card'], 'quote the query'],
    [['-service:shop'], 'put -- before'],
    [['level:error | count'], '--by FIELD'],
  ])('with 2 for %j', async (args, message) => {
    expect(await query(...args)).toEqual({ code: 2, lines: [], err: expect.stringContaining(message) as string })
  })

  test('with 1 if nothing listens; a URL of another host in the environment is not used', async () => {
    const closed = await createIngestService({ token: TOKEN })
    await closed.close()
    const env = { PINO_INGEST_DEV_TOKEN: TOKEN, PINO_INGEST_URL: 'https://logs.example.com/api/v1' }
    const { code, err } = await runInProcess(['query', '--url', closed.origin], env)
    expect([code, err]).toEqual([1, expect.stringContaining(`nothing listens at ${closed.origin}`)])
    expect((await runInProcess(['query', 'a'], env)).err).toContain('http://127.0.0.1:4319')
  })
})
