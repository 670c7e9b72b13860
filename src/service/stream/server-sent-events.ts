/** Server-Sent Events (HTML standard, 9.2): formatter for the service, parser for the page and `tail`. */

export interface ServerSentEvent {
  readonly event: string
  readonly data: string
  /** Last id received, for `Last-Event-ID`; undefined before the first id. */
  readonly id: string | undefined
}

/** For one line. Texts can have U+2028, which ends a line for `^`, `$` and `.`, but not in a stream. */
const FIELD = /^(event|data|id): ([^]*)/

/** Parses what `formatEvent` writes, as decoded text in chunks of any size. Each connection needs its own parser. */
export class EventStreamParser {
  #rest = ''
  #id: string | undefined

  /** @returns the events that this text completes */
  push(text: string): readonly ServerSentEvent[] {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop() as string
    return blocks.flatMap((block) => {
      const {
        event,
        data,
        id = this.#id,
      } = Object.fromEntries(
        block.split('\n').map((line) => FIELD.exec(line)?.slice(1) ?? ['', '']),
      ) as Partial<ServerSentEvent>
      this.#id = id
      return event === undefined || data === undefined ? [] : [{ event, data, id }]
    })
  }
}

/** @param data any JSON value; JSON text has no line breaks */
export function formatEvent({ event, data, id }: { event: string; data: unknown; id?: number }): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** A comment that keeps an idle connection open; parsers ignore it. */
export const COMMENT = ':\n\n'
/** Interval of comments. Readers treat 5 s (the page) or 10 s (`tail`) without data as a lost connection. */
export const COMMENT_INTERVAL_MS = 2_000
