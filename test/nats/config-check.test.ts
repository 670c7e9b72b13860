import { describe, expect, it } from 'vitest'
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream'
import { findDifferences } from '../../src/nats/config-check.js'
import { toStreamNames } from '../../src/nats/message.js'
import { toBucketConfig, toConsumerConfig, toDeadConfig, toQueueConfig } from '../../src/nats/streams.js'

type Config = Partial<StreamConfig & ConsumerConfig>

const NAMES = toStreamNames({ stream: 'S' })
const SIZES = { replicas: 3, maxBytes: 1_000, maxDeadBytes: 1_000, maxStateBytes: 1_000 }
const WANTED = {
  queue: toQueueConfig(NAMES, SIZES),
  dead: toDeadConfig(NAMES, SIZES),
  bucket: toBucketConfig(NAMES, SIZES),
  consumer: toConsumerConfig(NAMES, 'logs'),
}
type Role = keyof typeof WANTED

/** Compares a configuration with these changes. */
const differences = (role: Role, changes: Config, wanted: Config = WANTED[role]) =>
  findDifferences({ ...WANTED[role], ...changes }, wanted, (verb) => `nats ${verb}`)

describe('settings of existing streams and consumers', () => {
  it.each<[Role, Config, fix: string]>([
    ['queue', { retention: 'limits' }, 'nats rm'],
    ['queue', { storage: 'memory' }, 'nats rm'],
    ['queue', { discard: 'old' }, 'nats edit --discard new'],
    ['queue', { num_replicas: 1 }, 'nats edit --replicas 3'],
    ['queue', { max_bytes: 999 }, 'nats edit --max-bytes 1000'],
    ['queue', { duplicate_window: 120e9 }, 'nats edit --dupe-window 600s'],
    ['queue', { max_age: 86_400e9 }, 'nats edit --max-age 0s'],
    ['queue', { max_msgs_per_subject: 10 }, 'nats edit --max-msgs-per-subject -1'],
    ['queue', { no_ack: true }, 'nats edit --ack'],
    ['queue', { subjects: ['S.logs'] }, "nats edit --subjects 'S.logs,S.requests'"],
    ['queue', { subjects: ['p', 'S.logs.>', 'S.*.x', 'q.*'] }, 'nats edit --subjects'],
    ['dead', { subjects: ['S.dead.*'] }, "nats edit --subjects 'S.dead.>'"],
    ['bucket', { max_age: 3_600e9 }, 'nats edit --max-age 604800s'],
    ['dead', { deny_delete: true }, 'nats rm'],
    ['consumer', { filter_subject: 'S.requests' }, 'nats rm'],
    ['consumer', { ack_wait: 1e9 }, 'nats edit --wait 30s'],
    ['consumer', { max_deliver: 5 }, 'nats edit --max-deliver -1'],
    ['consumer', { max_ack_pending: 1_000 }, 'nats edit --max-pending -1'],
    ['consumer', { headers_only: true }, 'nats edit --no-headers-only'],
  ])('differ if they break a guarantee: %s %o', (role, changes, fix) => {
    const [found, ...others] = differences(role, changes)
    expect(found?.problem).toContain(Object.keys(changes)[0])
    expect(found?.fix).toContain(fix)
    expect(others).toEqual([])
  })

  it.each<[Role, Config]>([
    ['queue', { num_replicas: 5, max_bytes: 2_000, duplicate_window: 3_600e9, subjects: ['S.*', 'q'] }],
    ['queue', { max_bytes: -1, subjects: ['S.>'], deny_delete: true }],
    ['dead', { max_age: 3_600e9, max_msgs_per_subject: 10, subjects: ['*.dead.>'] }],
    ['bucket', { max_age: 0, allow_direct: true, max_msgs_per_subject: 5 }],
    ['consumer', { ack_wait: 60e9, max_waiting: 512 }],
  ])('may be larger, or the choice of the operator: %s %o', (role, changes) => {
    expect(differences(role, changes)).toEqual([])
  })

  it('are compared as far as the server reports them, and sizes only if they are given', () => {
    const { no_ack: _, ...reported } = WANTED.queue
    expect(findDifferences(reported, WANTED.queue, String)).toEqual([])
    expect(differences('queue', { num_replicas: 1, max_bytes: 10 }, toQueueConfig(NAMES, {}))).toEqual([])
  })
})
