/** Server-Sent Events (HTML standard, 9.2): formatter for the service, parser for the page and `tail`. */

export interface ServerSentEvent {
  readonly event: string
  readonly data: string
  /** Last id received, for `Last-Event-ID`; undefined before the first id. */
  readonly id: string | undefined
}

const LINE_END = /\r\n?|\n/g

/** Parses the decoded text of a stream in chunks of any size. Each connection needs its own parser. */
export class EventStreamParser {
  /** Start of an incomplete line. */
  #rest = ''
  #isBegun = false
  /** Whether the text ended with a carriage return; a line feed that follows belongs to it. */
  #afterReturn = false
  #event = ''
  #data: string[] = []
  #id: string | undefined

  /** @returns the events that this text completes */
  push(text: string): readonly ServerSentEvent[] {
    if (text === '') return []
    const events: ServerSentEvent[] = []
    let from = this.#ignoredLength(text)
    this.#isBegun = true
    LINE_END.lastIndex = from
    for (let end = LINE_END.exec(text); end !== null; end = LINE_END.exec(text)) {
      const line = this.#rest + text.slice(from, end.index)
      this.#rest = ''
      from = LINE_END.lastIndex
      if (line !== '') this.#field(line)
      else if (this.#data.length > 0)
        events.push({ event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id })
      if (line === '') this.#clear()
    }
    this.#afterReturn = text.endsWith('\r')
    this.#rest += text.slice(from)
    return events
  }

  /** Number of leading characters to ignore. */
  #ignoredLength(text: string): number {
    const isByteOrderMark = !this.#isBegun && text.startsWith('\uFEFF')
    return isByteOrderMark || (this.#afterReturn && text.startsWith('\n')) ? 1 : 0
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'event') this.#event = value
    else if (name === 'data') this.#data.push(value)
    else if (name === 'id' && !value.includes('\0')) this.#id = value
  }

  #clear(): void {
    this.#event = ''
    this.#data = []
  }
}

/** @param data any JSON value */
export function formatEvent({ event, data, id }: { event: string; data: unknown; id?: number }): string {
  return formatJsonEvent(event, JSON.stringify(data), id)
}

/** Like `formatEvent`, for data that is already JSON text. */
export function formatJsonEvent(event: string, json: string, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${json}\n\n`
}

/** A comment that keeps an idle connection open; parsers ignore it. */
export const COMMENT = ':\n\n'
/** Interval of comments. Readers treat 5 s (the page) or 10 s (`tail`) without data as a lost connection. */
export const COMMENT_INTERVAL_MS = 2_000
