/** `pino-ingest forward dead` with a real server. */
import { connect } from '@nats-io/transport-node'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSubBatchId } from '../../src/batch/sub-batch.js'
import { encodeDeadLetter } from '../../src/nats/dead-letter.js'
import { toStreamNames } from '../../src/nats/message.js'
import type { BatchKind } from '../../src/nats/message.js'
import { toDeadConfig, toQueueConfig } from '../../src/nats/streams.js'
import { runCli } from '../cli/run-cli.js'
import type { CliResult } from '../cli/run-cli.js'
import { SKIPS_NATS, useNatsServers } from './nats-servers.js'

const BATCH = '11111111-2222-4333-8444-555555555555'
const OTHER = '99999999-2222-4333-8444-555555555555'
const SIZES = { replicas: 1, maxBytes: 10_000_000, maxDeadBytes: 10_000_000, maxStateBytes: 1 }

const servers = useNatsServers()
let fleets = 0

async function startFleet() {
  const { urls } = servers()
  const names = toStreamNames({ stream: `FLEET-${(fleets += 1)}` })
  const connection = await connect({ servers: urls })
  onTestFinished(() => connection.close())
  const js = jetstream(connection)
  const { streams } = await jetstreamManager(connection)
  await streams.add(toQueueConfig(names, SIZES))
  await streams.add(toDeadConfig(names, SIZES))
  const env = { PINO_INGEST_NATS_SERVERS: urls.join(','), PINO_INGEST_NATS_STREAM: names.stream }
  return {
    names,
    streams,
    count: async (stream: string): Promise<number> => (await streams.info(stream)).state.messages,
    run: (...args: readonly string[]): Promise<CliResult> => runCli(['forward', 'dead', ...args], env),
    add: async (kind: BatchKind, batchId: string, index: number, entry: string, reason = 'must be a string') => {
      const letter = { batchId, index, status: 422, code: 'INVALID', field: 'metadata', reason, entry }
      const { subject, body, headers } = encodeDeadLetter(names, kind, letter)
      await js.publish(subject, body, { headers })
    },
  }
}

const entryOf = (message: string): string =>
  `{"timestamp":"2026-01-01T00:00:00.000Z","level":"error","message":"${message}"}`

const parse = ({ stdout }: CliResult): unknown[] =>
  stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)

describe.skipIf(SKIPS_NATS)('forward dead', () => {
  it('counts by endpoint and reason, and shows selected entries unchanged', async () => {
    const { names, run, add, streams } = await startFleet()
    for (const index of [0, 1, 2]) await add('logs', BATCH, index, entryOf(`entry ${index}`))
    // Deleted letters leave a large gap.
    for (let index = 0; index < 150; index += 1) await add('requests', BATCH, index, '{}')
    await streams.purge(names.deadStream, { filter: `${names.deadSubject}.requests` })
    await add('requests', OTHER, 5, '{"method":"GET","path":"/a","status_code":200}', 'line\n\u001b[31m')
    for (const id of ['nightly-1.0a', 'nightly-1.0b', 'nightly-12.0c']) await add('logs', id, 0, 'no JSON', 'other')
    const [listed, text, ofBatch, limited, ofName, ofPart, ofNone] = await Promise.all([
      run('ls', '--json'),
      run('ls'),
      run('show', BATCH, '--json'),
      run('show', '--limit', '1'),
      run('show', 'Nightly-1', '--json'),
      run('show', 'nightly-1.0b', '--json'),
      run('show', '00000000-2222-4333-8444-555555555555'),
    ])
    expect(parse(listed)).toMatchObject([
      {
        stream: names.deadStream,
        entries: 7,
        groups: [
          { endpoint: '/ingest', count: 3 },
          { endpoint: '/ingest', count: 3, reason: '422 INVALID, metadata: other' },
          { endpoint: '/ingest/requests', count: 1 },
        ],
      },
    ])
    expect(text.stdout.toString()).not.toContain('\u001b')
    const wanted = [0, 1, 2].map((index) => {
      return { batch_id: BATCH, index, status: 422, entry: JSON.parse(entryOf(`entry ${index}`)) as object }
    })
    expect(parse(ofBatch)).toMatchObject(wanted)
    expect(limited.stdout.toString()).toContain('entry 0')
    expect(limited.stdout.toString()).not.toContain('entry 1 ')
    expect(parse(ofName)).toMatchObject(
      ['nightly-1.0a', 'nightly-1.0b'].map((id) => ({ batch_id: id, entry: 'no JSON' })),
    )
    expect(parse(ofPart)).toMatchObject([{ batch_id: 'nightly-1.0b' }])
    expect(ofNone.code).toBe(1)
  })

  it('replays each letter once, even after a kill between publish and deletion, and keeps those that the queue refuses', async () => {
    const { names, run, add, streams, count } = await startFleet()
    const big = '{"level":"info","n":12345678901234567890}'
    await add('logs', BATCH, 0, big)
    await add('requests', OTHER, 0, '{"method":"GET","status_code":200}')
    const noEntries = ['', 'text', '[1]', 'null', '{"a"']
    for (const [index, text] of noEntries.entries()) await add('logs', OTHER, index, text)
    const replayed = await run('replay', '--all', '--json')
    expect(replayed.code).toBe(1)
    expect(parse(replayed)).toMatchObject([{ replayed: 2, skipped: noEntries.length, lastFailure: null }])
    const message = await streams.getMessage(names.stream, { last_by_subj: names.subjects.logs })
    const id = message?.header.get('Nats-Msg-Id')
    expect(new TextDecoder().decode(message?.data)).toBe(`{"batch_id":"${id}","logs":[${big}]}`)
    // Forwarders skip the ids of delivered batches.
    expect([BATCH, createSubBatchId(BATCH, [0])]).not.toContain(id)
    await add('logs', BATCH, 0, big)
    expect((await run('replay', BATCH)).code).toBe(0)
    expect([await count(names.stream), await count(names.deadStream)]).toEqual([2, noEntries.length])
    await add('logs', BATCH, 1, big)
    await streams.update(names.stream, { max_msgs: 2 })
    expect(parse(await run('replay', BATCH, '--json'))).toMatchObject([
      { replayed: 0, lastFailure: expect.stringContaining('maximum') as string },
    ])
    expect(await count(names.deadStream)).toBe(noEntries.length + 1)
  })

  it('refuses an ambiguous selection, and advises forward init if the stream is missing', async () => {
    const env = { PINO_INGEST_NATS_SERVERS: servers().urls.join(','), PINO_INGEST_NATS_STREAM: 'NONE' }
    for (const args of [['replay'], ['replay', BATCH, '--all'], ['show', '--limit', 'x']])
      expect((await runCli(['forward', 'dead', ...args], env)).code).toBe(2)
    const missing = await runCli(['forward', 'dead', 'ls', '--json'], env)
    expect(missing.code).toBe(1)
    expect(JSON.parse(missing.stderr)).toMatchObject({ error: { code: 'STREAM' } })
  })
})
