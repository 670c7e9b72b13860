/** Converts pino's lines to request logs like the pipeline. */
import { expect } from 'vitest'
import { validateRequest } from '../../src/client/request-validation.js'
import type { RequestLog } from '../../src/protocol/resources.js'
import { Mapper } from '../../src/record/mapper.js'
import { MappedRecord, toRequestPart } from '../../src/record/mapped-record.js'
import { RequestJoiner } from '../../src/request-logs/request-joiner.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { RequestKeys } from '../../src/options/settings.js'
import { RequestLogExtractor } from '../../src/request-logs/request-log-extractor.js'
import { validateRequestLogs } from '../../src/service/ingest/validate.js'
import { FakeClock } from '../fake-clock.js'
import { createMappingOptions } from '../record/record-lines.js'
import { faults } from '../record/valid-entry.js'
import { mapLine } from '../record/map-line.js'

export const TAG = 'a1b2c3d4e5f6'

export interface Took {
  readonly log: RequestLog | undefined
  readonly rank: number
  readonly isCovered: boolean
}

export function taker(
  clock = new FakeClock(),
  requestKeys?: RequestKeys,
): { take: (entryJson: string) => Took; line: (line: string) => Took } {
  const mapping = createMappingOptions({ environment: 'test', ...(requestKeys && { requestKeys }) })
  const joiner = new RequestJoiner({ clock, ...mapping })
  const logs = new RequestLogExtractor({ clock, joiner, ...mapping, tag: TAG, newId: () => 'minted-0123456789' })
  const mapper = new Mapper(mapping, -1, () => clock.wallNow())
  const extract = (entryJson: string): Took => {
    const { json, severity: rank, isCovered } = logs.extract(entryJson)
    if (json === undefined) return { log: undefined, rank, isCovered }
    const log = JSON.parse(json) as RequestLog
    expect(JSON.stringify(log)).toBe(json)
    validateRequest('requests', { requests: [log] })
    expect(validateRequestLogs({ requests: [log] })).toEqual([])
    return { log, rank, isCovered }
  }
  const isValid = (json: string): boolean => faults(json, mapping.maxEntryBytes).length === 0
  const joined = (record: MappedRecord): string => {
    if (record.requestPart !== 'none') joiner.join(record)
    return record.json
  }
  return {
    // The mapper creates no other entries.
    take: (entryJson) => extract(isValid(entryJson) ? joined(recordOf(entryJson)) : entryJson),
    line(line) {
      return extract(joined(mapLine(mapper, line)))
    },
  }
}

function recordOf(json: string): MappedRecord {
  const { request = {}, request_id: requestId = '' } = JSON.parse(json) as LogEntry
  const hasStart = (request.method ?? request.path) !== undefined
  const requestPart = toRequestPart(hasStart, request.status_code !== undefined, requestId !== '')
  return Object.assign(new MappedRecord(), { json, requestPart, requestId })
}

/** The request logs of all lines, and the messages that remain log entries with `only`. */
export function takeAll(lines: readonly string[], requestKeys?: RequestKeys): { logs: RequestLog[]; left: string[] } {
  const { line } = taker(new FakeClock(), requestKeys)
  const logs: RequestLog[] = []
  const left: string[] = []
  for (const one of lines) {
    const { log, isCovered } = line(one)
    if (log !== undefined) logs.push(log)
    if (!isCovered) left.push((JSON.parse(one) as { msg: string }).msg)
  }
  return { logs, left }
}
