/** Request analytics: a channel of its own for what HTTP records say of their requests. */
import { Channel } from '../channel.js'
import type { ChannelOptions } from '../channel.js'
import type { Http } from '../client/http-types.js'
import { requestsBody, requestsSender } from '../delivery/requests.js'
import type { Settings } from '../options.js'
import type { Report } from '../report.js'
import { PATHS } from '../protocol/limits.js'
import { REQUEST_MARK, RequestLogs } from '../request-logs/request-logs.js'
import { requestSettings } from './mapping.js'

export interface RequestsLaneOptions extends Pick<ChannelOptions, 'clock' | 'isInProcess' | 'mask' | 'onRetryAfter'> {
  readonly report: Report
  readonly settings: Settings
  readonly http: Http
  readonly hint: string | undefined
}

/** What its folder on disk is named by. */
export function requestsUrl(url: string): string {
  return url + PATHS.requests
}

export class RequestsLane {
  readonly channel: Channel
  readonly #logs: RequestLogs
  readonly #isAlone: boolean

  constructor({ settings, http, hint, report, ...shared }: RequestsLaneOptions) {
    const { clock } = shared
    this.#logs = new RequestLogs({ clock })
    this.#isAlone = settings.requestLogs === 'only'
    this.channel = new Channel({
      ...shared, settings: requestSettings(settings), report: report.ofRequestLogs(),
      url: requestsUrl(settings.url), siblingUrls: [settings.url], looksAtOthers: false, isShortenable: false,
      sender: requestsSender({ http, hint, ...shared }), toBody: requestsBody,
    })
  }

  /** @returns whether the record goes to request analytics alone */
  take(entryJson: string): boolean {
    if (!entryJson.includes(REQUEST_MARK)) return false
    const { json, rank, isCovered } = this.#logs.take(entryJson)
    if (json !== undefined) {
      this.channel.account.received += 1
      if (this.channel.admits(rank)) this.channel.add(json, rank)
      else this.channel.refuse()
    }
    return this.#isAlone && isCovered
  }
}
