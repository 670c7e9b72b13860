/** Records that a real pino logger wrote. */
import { Writable } from 'node:stream'

export interface Lines {
  readonly stream: Writable
  /** All records so far. */
  readonly records: () => Record<string, unknown>[]
  readonly last: () => Record<string, unknown>
}

export function lines(): Lines {
  let text = ''
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString()
      done()
    },
  })
  const records = (): Record<string, unknown>[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { stream, records, last: () => records().at(-1) ?? {} }
}

/** Without the members that every pino record has. */
export function bare(record: Record<string, unknown>): Record<string, unknown> {
  const { level: _level, time: _time, pid: _pid, hostname: _hostname, ...rest } = record
  return rest
}
