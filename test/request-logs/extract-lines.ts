/** From pino's lines to request logs, as the pipeline does it. */
import { expect } from 'vitest'
import { validateRequest } from '../../src/client/request-validation.js'
import type { RequestLog } from '../../src/protocol/resources.js'
import { Mapper } from '../../src/record/mapper.js'
import { RequestLogExtractor } from '../../src/request-logs/request-log-extractor.js'
import { validateRequestLogs } from '../../src/service/ingest/validate.js'
import { FakeClock } from '../fake-clock.js'
import { createMappingOptions } from '../record/record-lines.js'

export const TAG = 'a1b2c3d4e5f6'

export interface Took {
  readonly log: RequestLog | undefined
  readonly rank: number
  readonly isCovered: boolean
}

export function taker(clock = new FakeClock()): { take: (entryJson: string) => Took; line: (line: string) => Took } {
  const logs = new RequestLogExtractor({ clock, tag: TAG, newId: () => 'minted-0123456789' })
  const mapper = new Mapper(createMappingOptions({ environment: 'test' }), -1, () => clock.wallNow())
  const take = (entryJson: string): Took => {
    const { json, severity: rank, isCovered } = logs.extract(entryJson)
    if (json === undefined) return { log: undefined, rank, isCovered }
    const log = JSON.parse(json) as RequestLog
    expect(JSON.stringify(log)).toBe(json)
    validateRequest('requests', { requests: [log] })
    expect(validateRequestLogs({ requests: [log] })).toEqual([])
    return { log, rank, isCovered }
  }
  return {
    take,
    line(line) {
      mapper.beginText()
      return take(mapper.map(line, 0, line.length).json)
    },
  }
}

/** The request logs of all lines, and the messages of what is a log entry still under `only`. */
export function takeAll(lines: readonly string[]): { logs: RequestLog[]; left: string[] } {
  const { line } = taker()
  const logs: RequestLog[] = []
  const left: string[] = []
  for (const one of lines) {
    const { log, isCovered } = line(one)
    if (log !== undefined) logs.push(log)
    if (!isCovered) left.push((JSON.parse(one) as { msg: string }).msg)
  }
  return { logs, left }
}
