/** A client of `/local/stream` for tests. It can stop reading, and reconnect. */
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'
import type { StreamEntries } from '../../../src/service/query/api-types.js'
import { EventStreamParser } from '../../../src/service/stream/server-sent-events.js'
import type { IngestService } from '../../../src/service/index.js'

export interface HeardEvent {
  readonly event: string
  // oxlint-disable-next-line typescript/no-explicit-any -- events have every shape; expect() is what checks them
  readonly data: any
  readonly id: string | undefined
}

export interface StreamClient {
  readonly response: IncomingMessage
  readonly events: readonly HeardEvent[]
  readonly text: () => string
  readonly messages: () => string[]
  readonly skipped: () => number
  readonly lastId: () => string | undefined
  readonly isEnded: () => boolean
  readonly isCutOff: () => boolean
  readonly leave: () => void
}

/** @param path relative to `/local/` */
export function openStream(
  service: IngestService,
  path = 'stream',
  headers: Record<string, string> = {},
): Promise<StreamClient> {
  return new Promise((resolve, reject) => {
    const authorization = `Bearer ${service.token}`
    const request = httpRequest(
      `${service.origin}/local/${path}`,
      { agent: false, headers: { authorization, ...headers } },
      (response) => {
        const events: HeardEvent[] = []
        const parser = new EventStreamParser()
        const state = { text: '', isEnded: false, isCutOff: false }
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          state.text += part
          for (const { event, data, id } of parser.push(part)) events.push({ event, data: JSON.parse(data), id })
        })
        response.on('end', () => (state.isEnded = true))
        response.on('error', () => (state.isCutOff = true))
        const entries = (): StreamEntries[] =>
          events.filter(({ event }) => event === 'entries').map(({ data }) => data as StreamEntries)
        resolve({
          response,
          events,
          text: () => state.text,
          messages: () => entries().flatMap(({ items }) => items.map(({ message }) => message)),
          skipped: () => entries().reduce((sum, one) => sum + one.skipped, 0),
          lastId: () => events.at(-1)?.id,
          isEnded: () => state.isEnded,
          isCutOff: () => state.isCutOff,
          leave: () => request.destroy(),
        })
      },
    )
    onTestFinished(() => void request.destroy())
    request.on('error', reject)
    request.end()
  })
}
