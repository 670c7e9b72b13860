/** `pino-ingest feedback`. */
import { expect, test } from 'vitest'
import { entryOf, ingest, started } from '../../service/support.js'
import { runInProcess } from '../run-in-process.js'

const KEY = 'feedback-key-4711'

test('sends feedback, and says whether an entry has its id', async () => {
  const service = await started()
  await ingest(service, [entryOf({ metadata: { event_id: 'ev-1' } })])
  const env = { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY }
  const about = (id: string): string[] =>
    `feedback --event ${id} --comments Broken --name Jane --email jane@example.com`.split(' ')
  const said = async (args: readonly string[]): Promise<string> => (await runInProcess(args, env)).out
  expect(await said(about('ev-1'))).toBe('Sent, for event ev-1.\n')
  expect(await said(about('ev-2'))).toMatch(/^Sent, .*ev-2.* no entry has this id/)
  const json = JSON.parse(await said([...about('ev-2'), '--json'])) as object
  expect(json).toEqual({ sent: true, event_id: 'ev-2', attached: false })
  const feedback = { comments: 'Broken', name: 'Jane', email: 'jane@example.com' }
  expect(service.feedback().items).toMatchObject([{ feedback }, { feedback }, { feedback }])
})

test('reads the comments from stdin', async () => {
  const service = await started({ apiKeys: [KEY] })
  const env = { PINO_INGEST_API_KEY: KEY }
  expect(
    await runInProcess(
      ['feedback', '--event', 'ev-1', '--comments', '-', '--url', service.url],
      env,
      'It broke,\nand “again”\n',
    ),
  ).toMatchObject({ code: 0, err: '' })
  expect(service.feedback().items).toMatchObject([
    { feedback: { event_id: 'ev-1', comments: 'It broke,\nand “again”' } },
  ])
  expect(
    await runInProcess(['feedback', '--event', 'ev-1', '--comments', '-', '--url', service.url], env, '\n'),
  ).toMatchObject({ code: 2, err: expect.stringContaining('--comments is empty') })
})

test.each([
  [[], 'feedback needs --event ID'],
  [['--event', 'ev-1'], 'feedback needs --comments TEXT'],
  [['--event', 'ev-1', '--comments', '--name'], '--comments needs a value'],
  [['--event', 'ev-1', '--comments='], '--comments is empty: --comments TEXT'],
  [['ev-1'], 'unexpected argument ev-1'],
])('%j: exit 2', async (args, message) => {
  const result = await runInProcess(['feedback', ...args])
  expect(result).toMatchObject({ code: 2, out: '' })
  expect(result.err).toContain(message)
})

test('a failure: exit 1 with the reason', async () => {
  const service = await started({ apiKeys: ['another'] })
  const env = { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY }
  const result = await runInProcess(['feedback', '--event', 'e', '--comments', 'c'], env)
  expect(result).toMatchObject({ code: 1, out: '', err: expect.stringContaining('status 401') })
  expect(result.err).not.toContain(KEY)
})
