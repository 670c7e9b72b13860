import { describe, expect, it } from 'vitest'
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream'
import { findConsumerDifferences, findStreamDifferences } from '../../src/nats/config-check.js'
import type { NamedSize, StreamRole } from '../../src/nats/config-check.js'
import { toStreamNames } from '../../src/nats/message.js'
import { toBucketConfig, toConsumerConfig, toDeadConfig, toQueueConfig } from '../../src/nats/streams.js'

const NAMES = toStreamNames({ stream: 'S', subject: 'p' })
const SIZES = { replicas: 3, maxBytes: 1_000, maxDeadBytes: 1_000, maxStateBytes: 1_000 }
const WANTED = {
  queue: toQueueConfig(NAMES, SIZES),
  dead: toDeadConfig(NAMES, SIZES),
  bucket: toBucketConfig(NAMES, SIZES),
}
const NONE: ReadonlySet<NamedSize> = new Set()
const BOTH: ReadonlySet<NamedSize> = new Set(['num_replicas', 'max_bytes'])

/** The configuration as reported by the server. */
const actual = (role: StreamRole, changes: Partial<StreamConfig> = {}): StreamConfig =>
  ({
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    max_age: 0,
    deny_delete: false,
    allow_direct: false,
    ...WANTED[role],
    ...changes,
  }) as StreamConfig

const settings = (role: StreamRole, changes: Partial<StreamConfig>, named = BOTH): string[] =>
  findStreamDifferences(role, actual(role, changes), WANTED[role], named).map(({ setting }) => setting)

describe('differences of a stream', () => {
  it.each(['queue', 'dead', 'bucket'] as const)('are none for a new %s', (role) => {
    expect(settings(role, {})).toEqual([])
  })

  it.each<[StreamRole, Partial<StreamConfig>]>([
    ['queue', { retention: 'limits' }],
    ['queue', { storage: 'memory' }],
    ['queue', { discard: 'old' }],
    ['queue', { num_replicas: 1 }],
    ['queue', { max_bytes: 999 }],
    ['queue', { max_bytes: -1 }],
    ['queue', { duplicate_window: 120e9 }],
    ['queue', { max_age: 86_400e9 }],
    ['queue', { max_msgs: 1_000_000 }],
    ['queue', { max_msgs_per_subject: 10 }],
    ['queue', { max_msg_size: 1_000 }],
    ['queue', { no_ack: true }],
    ['queue', { deny_purge: false }],
    ['queue', { deny_delete: true }],
    ['queue', { subjects: ['p.logs'] }],
    ['bucket', { max_age: 3_600e9 }],
    ['dead', { deny_delete: true }],
  ])('include settings that break a guarantee, with a fix: %s %o', (role, changes) => {
    const found = findStreamDifferences(role, actual(role, changes), WANTED[role], BOTH)
    expect(found.map(({ setting }) => setting)).toEqual(Object.keys(changes))
    expect(found[0]?.fix).toContain(WANTED[role].name)
  })

  it('exclude larger limits and choices of the operator', () => {
    const more = { num_replicas: 5, max_bytes: 2_000, duplicate_window: 3_600e9, subjects: ['p.*', 'q'] }
    expect(settings('queue', more)).toEqual([])
    expect(settings('queue', { subjects: ['p.>'] })).toEqual([])
    expect(settings('dead', { max_age: 3_600e9, max_msgs: 10 })).toEqual([])
    expect(settings('bucket', { max_age: 0, allow_direct: false })).toEqual([])
  })

  it('include a size only if the user set it', () => {
    expect(settings('queue', { num_replicas: 1, max_bytes: 10 }, NONE)).toEqual([])
  })

  it('include wildcards that do not match the subject', () => {
    for (const subjects of [['p'], ['p.logs.>'], ['p.*.x'], ['q.*']])
      expect(settings('queue', { subjects })).toEqual(['subjects'])
  })
})

describe('differences of a consumer', () => {
  const wanted = toConsumerConfig(NAMES, 'logs')
  const found = (changes: Partial<ConsumerConfig>): string[] =>
    findConsumerDifferences('S', { ...wanted, ...changes } as ConsumerConfig, wanted).map(({ setting }) => setting)

  it('are none for a new consumer and for larger limits', () => {
    expect(found({})).toEqual([])
    expect(found({ ack_wait: 60e9, max_ack_pending: 100_000 })).toEqual([])
    expect(found({ max_ack_pending: -1 })).toEqual([])
    // Defaults as reported by the server, and a limit that forwarders respect.
    expect(found({ max_waiting: 512, replay_policy: 'instant', max_batch: 4 })).toEqual([])
  })

  it.each<Partial<ConsumerConfig>>([
    { filter_subject: 'p.requests' },
    { ack_policy: 'all' },
    { deliver_policy: 'new' },
    { deliver_subject: 'push' },
    { ack_wait: 1e9 },
    { backoff: [1e9] },
    { max_deliver: 5 },
    { max_ack_pending: 1_000 },
    { max_expires: 1e9 },
    { max_waiting: 2 },
    { replay_policy: 'original' },
    { headers_only: true },
    { mem_storage: true },
    { inactive_threshold: 60e9 },
  ])('include settings that break a guarantee: %o', (changes) => {
    expect(found(changes)).toEqual(Object.keys(changes))
  })
})
