/** Maps one line, which may be longer than the lines of the ring. */
import { expect } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { MappedRecord } from '../../src/record/mapped-record.js'
import { Mapper } from '../../src/record/mapper.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { RECEIVED_AT, createMappingOptions } from './record-lines.js'

export function mapLine(mapper: Mapper, text: string): MappedRecord {
  return mapper.map(mapper.lines.place(text))
}

/** By redactor and options: a mapper has memory of its own, so tests share it. */
const mappers = new WeakMap<object, Map<string, readonly [Mapper, MappingOptions]>>()
const DEFAULT = {}

function mapperWith({ redactor, ...over }: Partial<MappingOptions>): readonly [Mapper, MappingOptions] {
  const key = JSON.stringify(over)
  const group = mappers.get(redactor ?? DEFAULT) ?? new Map<string, readonly [Mapper, MappingOptions]>()
  mappers.set(redactor ?? DEFAULT, group)
  let found = group.get(key)
  if (found === undefined) {
    const options = createMappingOptions(redactor === undefined ? over : { redactor, ...over })
    group.set(key, (found = [new Mapper(options, -1, () => Date.parse(RECEIVED_AT)), options]))
  }
  return found
}

/** The entry's JSON with these options. */
export function jsonWith(line: string, over: Partial<MappingOptions> = {}): string {
  return mapLine(mapperWith(over)[0], line).json
}

/** The entry of a record or a line, on both paths, which must agree. */
export function entryWith(record: object | string, over: Partial<MappingOptions> = {}): LogEntry {
  const line = typeof record === 'string' ? record : JSON.stringify(record)
  const [mapper, options] = mapperWith(over)
  const entry = JSON.parse(mapLine(mapper, line).json) as LogEntry
  expect(entry).toEqual(JSON.parse(mapByParsing(line, options, RECEIVED_AT).json))
  return entry
}
