/** Reads the request of common entries from their text: 0.8 us, compared with 5 us for parsing the entry. */
import type { RequestKeys } from '../options/settings.js'
import { FASTIFY_START, PINO_HTTP_ABORT, createMetadataKeys, parseRequest, readMetadata } from './request-log.js'
import type { Fields, LoggedRequest, MetadataKeys, RequestMetadata } from './request-log.js'
import { isCatchAll } from './route-pattern.js'

/** JSON of a string without escapes. */
const PLAIN = String.raw`("[^"\\]+")`
const TEXT = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`
/** Matches other members only to skip them: strings, numbers, and containers without nested containers. */
const VALUE = String.raw`(?:${TEXT}|[\w.+-]+|\{(?:${TEXT}|[^"{}[\]])*\}|\[(?:${TEXT}|[^"{}[\]])*\])`
const OTHERS = String.raw`(?:,"(?!service"|environment"|request"|request_id"|metadata"|error"|notify")\w+":${VALUE})*`
const IDS = `${OTHERS}(?:,"request_id":${PLAIN}${OTHERS})?`
const STATUS = String.raw`(?:"status_code":([1-9]\d\d),?)?`
/** The members are in the order in which the kernel or the reference path writes them. */
const ENTRY = new RegExp(
  String.raw`\{"level":"(\w+)","message":(${TEXT}),"timestamp":("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")` +
    `(?:,"service":${PLAIN})?(?:,"environment":${PLAIN})?${IDS}` +
    String.raw`,"request":\{(?:"method":${PLAIN},?)?(?:"url":${TEXT},?)?(?:"path":${PLAIN},?)?${STATUS}` +
    String.raw`(?:"ip":${TEXT},?)?(?:"user_agent":${TEXT},?)?${STATUS}(?:"duration_ms":(\d[\d.]{0,20}))?\}` +
    String.raw`${IDS}(?:\}$|,"metadata":\{((?:"pid":\d+,)?(?:"hostname":${PLAIN})?(?:,"route":("/[^"\\]+"))?))`,
  'y',
)
const LEVEL = 1
const MESSAGE = 2
const TIMESTAMP = 3
const SERVICE = 4
const ENVIRONMENT = 5
const FIRST_ID = 6
const METHOD = 7
const PATH = 8
const FIRST_STATUS = 9
const LAST_STATUS = 10
const DURATION = 11
const LAST_ID = 12
const METADATA = 13
const HOST = 14
const ROUTE = 15

const START_MESSAGE = JSON.stringify(FASTIFY_START)
const ABORT_MESSAGE = JSON.stringify(PINO_HTTP_ABORT)
const HOST_KEY = 'hostname":'
/** A part of every key of a route. */
const ROUTE_KEY = 'rout'

export class RequestReader {
  readonly #keys: MetadataKeys
  /** Without the opening quote, because V8 searches for a rare first character four times as fast. */
  readonly #idKeys: readonly string[]

  constructor(keys: RequestKeys) {
    this.#keys = createMetadataKeys(keys)
    this.#idKeys = this.#keys.ids.map((key) => `${JSON.stringify(key).slice(1)}:`)
  }

  read(entryJson: string): LoggedRequest | undefined {
    return this.readText(entryJson) ?? parseRequest(entryJson, this.#keys)
  }

  /** @returns undefined if the entry must be parsed */
  readText(entryJson: string): LoggedRequest | undefined {
    ENTRY.lastIndex = 0
    const found = ENTRY.exec(entryJson)
    if (found === null) return undefined
    const metadata = this.#readMetadata(entryJson, found, (found[FIRST_ID] ?? found[LAST_ID] ?? '').slice(1, -1))
    if (metadata === undefined) return undefined
    const status = found[FIRST_STATUS] ?? found[LAST_STATUS]
    const duration = found[DURATION]
    const level = found[LEVEL]
    const message = found[MESSAGE]
    const hasEnded = status !== undefined && duration !== undefined && message !== ABORT_MESSAGE
    return {
      method: found[METHOD] ?? '',
      path: found[PATH] ?? '',
      end: hasEnded ? { statusCode: Number(status), duration } : undefined,
      timestamp: found[TIMESTAMP] ?? '',
      service: found[SERVICE] ?? '',
      environment: found[ENVIRONMENT] ?? '',
      metadata,
      isFastifyStart: message === START_MESSAGE,
      hasOtherContent: level === 'error' || level === 'fatal',
    }
  }

  #readMetadata(entryJson: string, found: RegExpExecArray, id: string): RequestMetadata | undefined {
    const host = found[HOST] ?? ''
    const route = found[ROUTE] ?? ''
    const beginning = found[METADATA]
    const from = found[0].length
    const isWhole = beginning === undefined || !this.#mayContainMore(entryJson, from, host !== '')
    if (isWhole && (route === '' || !isCatchAll(route.slice(1, -1)))) return { id, route, host }
    try {
      const metadata = JSON.parse(entryJson.slice(from - (beginning ?? '').length - 1, -1)) as Fields
      return readMetadata(metadata, id, this.#keys)
    } catch {
      return undefined
    }
  }

  /** Whether the metadata may contain a route, an id or the host at or after `from`. */
  #mayContainMore(entryJson: string, from: number, hasHost: boolean): boolean {
    if (entryJson.includes(ROUTE_KEY, from) || (!hasHost && entryJson.includes(HOST_KEY, from))) return true
    for (const key of this.#idKeys) if (entryJson.includes(key, from)) return true
    return false
  }
}
