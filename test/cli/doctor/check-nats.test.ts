import type { StreamInfo } from '@nats-io/jetstream'
import { expect, it } from 'vitest'
import { checkReplicas } from '../../../src/cli/doctor/check-nats.js'

const OFFLINE = { name: 'n2', current: false, offline: true }
const LAGGING = { name: 'n3', current: false, lag: 17 }

it.each([
  ['stream', [{ name: 'n2', current: true }], true, /^2 of 2/, undefined],
  ['stream', [OFFLINE, LAGGING], false, /^1 of 3 .*n2.*n3.*17/, /start/],
  // A single copy of queued batches is a warning.
  ['stream', [], true, /^1 of 1/, /--replicas 3/],
  ['bucket', [], true, /^1 of 1/, undefined],
])('replicas of a %s pass if all are current: %j', (kind, replicas, isOk, detail, fix) => {
  const info = { config: { name: 'S', num_replicas: replicas.length + 1 }, cluster: { replicas } }
  const check = checkReplicas(kind, info as unknown as StreamInfo)
  expect(check.ok).toBe(isOk)
  expect(check.detail).toMatch(detail)
  expect(check.fix ?? '').toMatch(fix ?? /^$/)
})
