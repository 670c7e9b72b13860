import { expect, test } from 'vitest'
import { Admission } from '../../src/pipeline/admission.js'

test.each([
  [0, 0],
  [0.799, 0],
  [0.8, 1],
  [0.899, 1],
  [0.9, 2],
  [1.5, 2],
])('at a used share of %f of memory or disk admits severities from %i', (usedShare, threshold) => {
  const memory = new Admission({ memory: { usedShare, isNewestMemoryOnly: true }, disk: { usedShare: 0 } })
  const disk = new Admission({ memory: { usedShare: 1, isNewestMemoryOnly: false }, disk: { usedShare } })
  expect([memory.threshold, disk.threshold]).toEqual([threshold, threshold])
  expect([memory.reason, disk.reason]).toEqual(['buffer', 'spool'])
})
