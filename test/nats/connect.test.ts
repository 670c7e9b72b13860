import { expect, test } from 'vitest'
import { findOldServer } from '../../src/nats/connect.js'

test.each([
  ['1.4.1', true],
  ['2.9.10', true],
  ['2.10.22', true],
  ['2.10.23-RC.1', false],
  ['2.10.23', false],
  ['2.11.0', false],
  ['2.12.0-RC.1', false],
  ['3.0.0', false],
  ['dev', false],
])('%s is too old: %s; refused in a cluster, a warning for a single server', (version, isOld) => {
  for (const cluster of ['fleet', undefined]) {
    const found = findOldServer({ version, ...(cluster !== undefined && { cluster }) })
    expect(found?.isRefused).toBe(isOld ? cluster !== undefined : undefined)
    expect(found?.text).toEqual(isOld ? expect.stringMatching(new RegExp(`${version}.*2\\.10\\.23`)) : undefined)
  }
})
