import fc from 'fast-check'
import { it } from 'vitest'
import { LEVELS } from '../../../src/protocol/log-entry.js'
import { validateEntry } from '../../../src/service/index.js'

it('validates any JSON without throwing, and accepts generated valid entries', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(validateEntry(value))))
  const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0') && value.isWellFormed())
  const entry = fc.record(
    {
      level: fc.constantFrom(...LEVELS),
      message: text,
      timestamp: fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date(2e12) })
        .map((date) => date.toISOString()),
      metadata: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(fc.boolean()))),
      tags: fc.array(text),
      perf: fc.record({ duration_ms: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
    },
    { requiredKeys: ['level', 'message', 'timestamp'] },
  )
  fc.assert(fc.property(entry, (value) => validateEntry(JSON.parse(JSON.stringify(value))).length === 0))
})
