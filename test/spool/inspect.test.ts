/** Reads a root for display: the age of what waits. */
import { closeSync, openSync, utimesSync, writeSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSegmentHeader } from '../../src/spool/disk-format.js'
import { summarizeUnsettled } from '../../src/spool/inspect.js'
import type { FoundInstance } from '../../src/spool/inspect.js'
import { instancesIn, leave, newRoot } from '../cli/spool/stored-spool.js'
import { entryOf } from '../service/support.js'

const CREATED_MS = Date.UTC(2026, 0, 30, 22)
const OLDEST_MS = Date.UTC(2026, 0, 31, 2)
const MODIFIED_MS = Date.UTC(2026, 0, 31, 9)

const loggedAt = (ms: number): object => entryOf({ timestamp: new Date(ms).toISOString() })

/** What a process left that created its segment and last wrote to it at these times. */
function leftBetween(createdAtMs: number, modifiedAtMs: number, entries: readonly object[]): FoundInstance {
  const root = newRoot()
  leave(root, entries)
  const path = instancesIn(root)[0]?.segments[0]?.path ?? ''
  const file = openSync(path, 'r+')
  writeSync(file, createSegmentHeader(createdAtMs), 0, undefined, 0)
  closeSync(file)
  utimesSync(path, modifiedAtMs / 1_000, modifiedAtMs / 1_000)
  return instancesIn(root)[0] as FoundInstance
}

test.each([
  ['at its timestamp, even if its segment was just written', [loggedAt(OLDEST_MS), loggedAt(MODIFIED_MS)], OLDEST_MS],
  ['at the creation of its segment, if it has no timestamp', [{ level: 'info', message: 'm' }], CREATED_MS],
  ['not before its segment was created', [loggedAt(0)], CREATED_MS],
  ['not after its segment was last written', [loggedAt(MODIFIED_MS + 60_000)], MODIFIED_MS],
])('the oldest entry was logged %s', async (_, entries, expected) => {
  const found = leftBetween(CREATED_MS, MODIFIED_MS, entries)
  expect(await summarizeUnsettled(found)).toMatchObject({ entries: entries.length, oldestAtMs: expected })
})

test('the oldest entry was logged at the last write of its segment, if the clock was set back since its creation', async () => {
  const found = leftBetween(MODIFIED_MS + 60_000, MODIFIED_MS, [loggedAt(MODIFIED_MS + 60_000)])
  expect(await summarizeUnsettled(found)).toMatchObject({ oldestAtMs: MODIFIED_MS })
})
