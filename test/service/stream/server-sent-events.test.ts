/** Server-Sent Events: what the service writes, its readers parse. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COMMENT, EventStreamParser, formatEvent } from '../../../src/service/stream/server-sent-events.js'
import type { ServerSentEvent } from '../../../src/service/stream/server-sent-events.js'

function read(...parts: readonly string[]): readonly ServerSentEvent[] {
  const parser = new EventStreamParser()
  return parts.flatMap((part) => parser.push(part))
}

function shown(events: readonly ServerSentEvent[]): readonly unknown[] {
  return events.map(({ event, data, id }) => [event, data, id])
}

it('parses events in chunks of any size; an id stays until the next one', () => {
  const text = formatEvent({ event: 'a', data: 1, id: 7 }) + COMMENT + formatEvent({ event: 'b', data: 'é: \u{1f600}' })
  const events = [
    ['a', '1', '7'],
    ['b', '"é: \u{1f600}"', '7'],
  ]
  for (let size = 1; size <= text.length; size++) {
    const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size))
    expect(shown(read(...parts))).toEqual(events)
  }
})

describe('the formatter', () => {
  it('formats any text, and the parser returns it unchanged', () => {
    const id = fc.option(fc.nat(), { nil: undefined })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.jsonValue(), id)), (events) => {
        const text = events
          .map(([data, seq]) => COMMENT + formatEvent({ event: 'e', data, ...(seq !== undefined && { id: seq }) }))
          .join('')
        const back = read(text)
        expect(back.map(({ event, data }) => [event, JSON.parse(data)])).toEqual(
          events.map(([data]) => ['e', JSON.parse(JSON.stringify(data))]),
        )
        let last: string | undefined
        expect(back.map((one) => one.id)).toEqual(
          events.map(([, seq]) => (last = seq === undefined ? last : String(seq))),
        )
      }),
    )
  })

  it('never starts a line with logged text', () => {
    const text = formatEvent({
      event: 'entries',
      data: { message: 'a\n\nevent: reset\rdata: {}\r\n\r\n\u2028event: reset\u2029' },
      id: 3,
    })
    expect(text.split(/\r\n?|\n/)).toHaveLength(5)
    expect(shown(read(text))).toEqual([
      ['entries', `${String.raw`{"message":"a\n\nevent: reset\rdata: {}\r\n\r\n`}\u2028event: reset\u2029"}`, '3'],
    ])
  })
})
