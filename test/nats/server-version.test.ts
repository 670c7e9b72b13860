/** Which servers are too old, and which can lose what they have acknowledged. */
import { expect, test } from 'vitest'
import { findLossRisk, findTooOld } from '../../src/nats/server-version.js'

test.each([
  ['1.4.1', true],
  ['2.8.4', true],
  ['2.9.0', false],
  ['2.10.0-beta.1', false],
  ['3.0.0', false],
  ['dev', false],
])('%s is too old: %s', (version, isOld) => {
  expect(findTooOld({ version }) !== undefined).toBe(isOld)
})

test.each([
  ['2.9.10', true],
  ['2.10.22', true],
  ['2.10.23', false],
  ['2.10.27', false],
  ['2.11.0', false],
  ['2.12.0-RC.1', false],
  ['3.0.0', false],
])('a cluster of %s can lose acknowledged batches: %s', (version, isAtRisk) => {
  expect(findLossRisk({ version, cluster: 'fleet' })?.includes(version) ?? false).toBe(isAtRisk)
})

test('a single server has no replicas that could differ', () => {
  expect(findLossRisk({ version: '2.9.10' })).toBeUndefined()
})
