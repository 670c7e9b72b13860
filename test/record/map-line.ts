/** Maps one line, which may be longer than the lines of the ring. */
import type { MappedRecord } from '../../src/record/mapped-record.js'
import type { Mapper } from '../../src/record/mapper.js'

export function mapLine(mapper: Mapper, text: string): MappedRecord {
  return mapper.map(mapper.lines.place(text))
}
