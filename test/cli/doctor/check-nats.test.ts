import type { StreamInfo } from '@nats-io/jetstream'
import { describe, expect, it } from 'vitest'
import { checkReplicas } from '../../../src/cli/doctor/check-nats.js'

const info = (replicas: readonly object[]): StreamInfo =>
  ({
    config: { name: 'S', num_replicas: replicas.length + 1 },
    cluster: { name: 'c', leader: 'n1', replicas },
  }) as unknown as StreamInfo

describe('replicas of a stream', () => {
  it('pass if all are current', () => {
    const [check, ...others] = checkReplicas(
      'stream',
      info([
        { name: 'n2', current: true },
        { name: 'n3', current: true },
      ]),
    )
    expect([check?.ok, check?.fix, others]).toEqual([true, undefined, []])
  })

  it('fail with the names of servers that are offline or lag', () => {
    const replicas = [
      { name: 'n2', current: false, offline: true },
      { name: 'n3', current: false, lag: 17 },
    ]
    const [check] = checkReplicas('stream', info(replicas))
    expect(check?.ok).toBe(false)
    expect(check?.detail).toMatch(/^1 of 3 .*n2.*n3.*17/)
  })

  it('warn about a single copy of queued batches', () => {
    expect(checkReplicas('stream', info([]))[0]).toMatchObject({ ok: true, fix: expect.any(String) as string })
    expect(checkReplicas('bucket', info([]))[0]?.fix).toBeUndefined()
  })
})
