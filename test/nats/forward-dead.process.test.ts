/** `pino-ingest forward dead` with a real server. */
import { headers, connect } from '@nats-io/transport-node'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { encodeDeadLetter } from '../../src/nats/dead-letter.js'
import { toStreamNames } from '../../src/nats/message.js'
import type { BatchKind } from '../../src/nats/message.js'
import { runCli } from '../cli/run-cli.js'
import type { CliResult } from '../cli/run-cli.js'
import { natsServers, SKIPS_NATS } from './nats-servers.js'

const NAMES = toStreamNames({ stream: 'PINO_INGEST', subject: 'pino-ingest' })
const BATCH = '11111111-2222-4333-8444-555555555555'
const OTHER = '99999999-2222-4333-8444-555555555555'

interface Fleet {
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  readonly run: (...args: readonly string[]) => Promise<CliResult>
  readonly add: (kind: BatchKind, batchId: string, index: number, entry: string, reason?: string) => Promise<void>
}

async function startFleet(): Promise<Fleet> {
  const servers = await natsServers()
  const connection = await connect({ servers: servers.urls })
  onTestFinished(() => connection.close())
  const env = { PINO_INGEST_NATS_SERVERS: servers.urls.join(',') }
  const run: Fleet['run'] = (...args) => runCli(['forward', ...args], env)
  const sizes = ['--max-bytes', '10mb', '--max-dead-bytes', '10mb', '--max-state-bytes', '1mb']
  expect((await run('init', '--replicas', '1', ...sizes)).code).toBe(0)
  const js = jetstream(connection)
  return {
    js,
    jsm: await jetstreamManager(connection),
    run,
    add: async (kind, batchId, index, entry, reason = 'must be a string') => {
      const letter = { batchId, index, status: 422, code: 'INVALID', field: 'metadata', reason, entry }
      const message = encodeDeadLetter(NAMES, kind, letter)
      const own = headers()
      for (const [name, value] of message.headers) own.set(name, value)
      await js.publish(message.subject, message.body, { headers: own })
    },
  }
}

const entryOf = (message: string): string =>
  `{"timestamp":"2026-01-01T00:00:00.000Z","level":"error","message":"${message}"}`

describe.skipIf(SKIPS_NATS)('forward dead', () => {
  it('selects all batches with an id of another program', async () => {
    const { run, add } = await startFleet()
    for (const id of ['nightly-1.0a', 'nightly-1.0b', 'nightly-12.0c']) await add('logs', id, 0, entryOf(id))
    const shown = (await run('dead', 'show', 'Nightly-1', '--json')).stdout.toString()
    expect(shown.match(/nightly-1\.0[ab]"/g)).toHaveLength(4)
    expect(shown).not.toContain('nightly-12')
    expect((await run('dead', 'show', 'nightly-1.0b', '--json')).stdout.toString().trim().split('\n')).toHaveLength(1)
  })

  it('counts by endpoint and reason, and shows entries unchanged', async () => {
    const { run, add } = await startFleet()
    expect((await run('dead', 'ls')).code).toBe(0)
    for (const index of [0, 1, 2]) await add('logs', BATCH, index, entryOf(`entry ${index}`))
    await add(
      'requests',
      OTHER,
      5,
      '{"method":"GET","path":"/a","status_code":200,"duration_ms":1}',
      'line\n\u001b[31m',
    )
    const listed = JSON.parse((await run('dead', 'ls', '--json')).stdout.toString()) as object
    expect(listed).toMatchObject({
      stream: 'PINO_INGEST_DEAD',
      entries: 4,
      groups: [
        { endpoint: '/ingest', count: 3, reason: '422 INVALID, metadata: must be a string' },
        { endpoint: '/ingest/requests', count: 1 },
      ],
    })
    const text = (await run('dead', 'ls')).stdout.toString()
    expect(text).not.toContain('\u001b')
    const shown = await run('dead', 'show', BATCH, '--json')
    const lines = shown.stdout.toString().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
      [0, 1, 2].map((index) =>
        expect.objectContaining({
          batch_id: BATCH,
          index,
          status: 422,
          entry: JSON.parse(entryOf(`entry ${index}`)) as object,
        }),
      ),
    )
    const limited = (await run('dead', 'show', '--limit', '1')).stdout.toString()
    expect(limited).toContain('entry 0')
    expect(limited).not.toContain('entry 1 ')
    expect((await run('dead', 'show', '00000000-2222-4333-8444-555555555555')).code).toBe(1)
    expect(
      (await run('dead', 'show', '--kind', 'requests', '--json')).stdout.toString().trim().split('\n'),
    ).toHaveLength(1)
  })

  it('replays letters under their own ids, and deletes them afterwards', async () => {
    const { run, add, jsm } = await startFleet()
    const big = '{"level":"info","n":12345678901234567890}'
    await add('logs', BATCH, 0, big)
    await add('logs', BATCH, 1, entryOf('one'))
    await add('requests', OTHER, 0, '{"method":"GET","status_code":200}')
    await add('logs', OTHER, 1, 'no entry')
    await jsm.streams.deleteMessage('PINO_INGEST_DEAD', 2)
    const replayed = await run('dead', 'replay', '--all', '--json')
    expect(replayed.code).toBe(1)
    expect(JSON.parse(replayed.stdout.toString())).toMatchObject({ replayed: 2, skipped: 1, failed: 0 })
    const left = await jsm.streams.info('PINO_INGEST_DEAD')
    expect(left.state.messages).toBe(1)
    const message = await jsm.streams.getMessage('PINO_INGEST', { last_by_subj: 'pino-ingest.logs' })
    const id = message?.header.get('Nats-Msg-Id')
    expect(new TextDecoder().decode(message?.data)).toBe(`{"batch_id":"${id}","logs":[${big}]}`)
  })

  it('publishes nothing twice after a kill between publish and deletion', async () => {
    const { run, add, js, jsm } = await startFleet()
    await add('logs', BATCH, 0, entryOf('one'))
    expect((await run('dead', 'replay', BATCH)).code).toBe(0)
    // Adds the letter again under another message ID, since JetStream would drop the same ID as a duplicate.
    const message = encodeDeadLetter(NAMES, 'logs', {
      batchId: BATCH,
      index: 0,
      status: 422,
      code: '',
      field: '',
      reason: '',
      entry: entryOf('one'),
    })
    const own = headers()
    for (const [name, value] of message.headers) if (name !== 'Nats-Msg-Id') own.set(name, value)
    await js.publish(message.subject, message.body, { headers: own })
    expect((await run('dead', 'replay', BATCH)).code).toBe(0)
    expect((await jsm.streams.info('PINO_INGEST')).state.messages).toBe(1)
    expect((await jsm.streams.info('PINO_INGEST_DEAD')).state.messages).toBe(0)
  })

  it('keeps the letters while the queue is full, and reads across large gaps', async () => {
    const { run, add, jsm } = await startFleet()
    await add('logs', OTHER, 1, entryOf('x'))
    for (let index = 0; index < 150; index += 1) await add('requests', BATCH, index, '{}')
    await jsm.streams.purge('PINO_INGEST_DEAD', { filter: 'pino-ingest.dead.requests' })
    await add('logs', OTHER, 0, entryOf('y'))
    expect((await run('dead', 'ls', '--json')).stdout.toString()).toContain('"entries":2')
    await jsm.streams.update('PINO_INGEST', { max_msgs: 1 })
    const first = await run('dead', 'replay', '--all', '--json')
    expect(first.code).toBe(1)
    expect(JSON.parse(first.stdout.toString())).toMatchObject({ replayed: 1, failed: 1 })
    expect((await jsm.streams.info('PINO_INGEST_DEAD')).state.messages).toBe(1)
  })

  it('refuses an ambiguous selection and unknown commands, and advises forward init if the stream is missing', async () => {
    const env = { PINO_INGEST_NATS_SERVERS: '127.0.0.1:1' }
    for (const args of [['replay'], ['replay', BATCH, '--all'], ['shw'], [], ['show', '--kind', 'x']])
      expect((await runCli(['forward', 'dead', ...args], env)).code).toBe(2)
    const { urls } = await natsServers()
    const missing = await runCli(['forward', 'dead', 'ls', '--json'], { PINO_INGEST_NATS_SERVERS: urls.join(',') })
    expect(missing.code).toBe(1)
    expect(JSON.parse(missing.stdout.toString())).toMatchObject({ error: { code: 'STREAM' } })
  })
})
