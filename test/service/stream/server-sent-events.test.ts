/** Server-Sent Events: the standard's examples, chunks of any size, and the service's own format. */
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

describe('the parser', () => {
  it.each<[string, string, readonly unknown[]]>([
    ['lines of data', 'data: YHOO\ndata: +2\ndata: 10\n\n', [['message', 'YHOO\n+2\n10', undefined]]],
    [
      'comments, ids that stay and an empty one',
      ': test\n\ndata: first\nid: 1\n\ndata:second\n\ndata:third\nid\n\n',
      [
        ['message', 'first', '1'],
        ['message', 'second', '1'],
        ['message', 'third', ''],
      ],
    ],
    [
      'empty data, and no end',
      'data\n\ndata\ndata\n\ndata:',
      [
        ['message', '', undefined],
        ['message', '\n', undefined],
      ],
    ],
    [
      'one space alone',
      'data:test\n\ndata: test\n\ndata:  test\n\n',
      [
        ['message', 'test', undefined],
        ['message', 'test', undefined],
        ['message', ' test', undefined],
      ],
    ],
    [
      'names',
      'event: add\ndata: 1\n\nevent: remove\ndata: 2\n\ndata: 3\n\n',
      [
        ['add', '1', undefined],
        ['remove', '2', undefined],
        ['message', '3', undefined],
      ],
    ],
    ['a name without data', 'event: add\n\ndata: 1\n\n', [['message', '1', undefined]]],
    ['an id without data', 'id: 7\n\ndata: 1\n\n', [['message', '1', '7']]],
    ['an id with NUL', 'id: 7\nid: a\0b\ndata: 1\n\n', [['message', '1', '7']]],
    ['unknown fields', 'retry: 10\nData: 2\ndata : 3\ncolor\ndata: 1\n\n', [['message', '1', undefined]]],
    ['colons in the value', 'data: {"a":"b:c"}\n\n', [['message', '{"a":"b:c"}', undefined]]],
    ['a byte order mark, once', '\uFEFFdata: 1\n\n\uFEFFdata: 2\n\n', [['message', '1', undefined]]],
    [
      'other line ends',
      'data: 1\r\n\r\ndata: 2\r\rdata: 3\r\n\ndata: 4\n\r',
      [
        ['message', '1', undefined],
        ['message', '2', undefined],
        ['message', '3', undefined],
        ['message', '4', undefined],
      ],
    ],
    ['no line ends', 'data: a\u2028b\u0085c\n\n', [['message', 'a\u2028b\u0085c', undefined]]],
  ])('%s', (_name, text, events) => {
    expect(shown(read(text))).toEqual(events)
    expect(shown(read(...text))).toEqual(events)
  })

  it('returns the same events for chunks of any size', () => {
    const line = fc.constantFrom(
      'data: x',
      'data:',
      'data',
      'id: 4',
      'id',
      'event: e',
      ': c',
      '',
      '',
      'retry: 1',
      'data: é\u{1f600}',
    )
    const end = fc.constantFrom('\n', '\r', '\r\n')
    const text = fc.array(fc.tuple(line, end), { maxLength: 20 }).map((lines) => lines.flat().join(''))
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 6 }), (whole, cuts) => {
        const places = [0, ...cuts.filter((at) => at < whole.length).toSorted((a, b) => a - b), whole.length]
        const parts = places.slice(1).map((to, n) => whole.slice(places[n], to))
        expect(read(...parts)).toEqual(read(whole))
      }),
    )
  })
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
    const text = formatEvent({ event: 'entries', data: { message: 'a\n\nevent: reset\rdata: {}\r\n\r\n' }, id: 3 })
    expect(text.split(/\r\n?|\n/)).toHaveLength(5)
    expect(shown(read(text))).toEqual([['entries', String.raw`{"message":"a\n\nevent: reset\rdata: {}\r\n\r\n"}`, '3']])
  })
})
