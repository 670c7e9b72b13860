/** Request analytics: extracts request logs from HTTP records, and sends them to an endpoint of their own. */
import { EndpointPipeline } from './endpoint-pipeline.js'
import type { EndpointPipelineOptions } from './endpoint-pipeline.js'
import type { Http } from '../client/http-types.js'
import { createRequestsBodySender, createRequestsSender } from '../delivery/request-log-sender.js'
import type { Settings } from '../options/resolve-options.js'
import type { Reporter } from '../diagnostics/reporter.js'
import { PATHS } from '../protocol/limits.js'
import { REQUEST_MEMBER, RequestLogExtractor } from '../request-logs/request-log-extractor.js'
import { toRequestLogSettings } from './mapping-options.js'

export interface RequestLogPipelineOptions extends Pick<
  EndpointPipelineOptions,
  'account' | 'clock' | 'isInProcess' | 'mask'
> {
  readonly report: Reporter
  readonly settings: Settings
  readonly http: Http
  readonly hint: string | undefined
}

export function toRequestLogUrl(url: string): string {
  return url + PATHS.requests
}

export class RequestLogPipeline {
  readonly endpoint: EndpointPipeline
  readonly #logs: RequestLogExtractor
  readonly #isOnly: boolean

  constructor({ settings, http, hint, report, ...shared }: RequestLogPipelineOptions) {
    const { clock } = shared
    this.#logs = new RequestLogExtractor({ clock })
    this.#isOnly = settings.requestLogs.only
    this.endpoint = new EndpointPipeline({
      ...shared,
      settings: toRequestLogSettings(settings),
      report: report.forRequestLogs(),
      url: toRequestLogUrl(settings.url),
      siblingUrls: [settings.url],
      shouldScanOthers: false,
      isShortenable: false,
      sender: createRequestsSender({ http, hint, ...shared }),
      toBody: createRequestsBodySender,
    })
  }

  /** @returns whether the record must not be sent as an entry */
  add(entryJson: string): boolean {
    if (!entryJson.includes(REQUEST_MEMBER)) return false
    const { json, severity, isCovered } = this.#logs.extract(entryJson)
    if (json !== undefined) {
      this.endpoint.account.received += 1
      if (severity < this.endpoint.admission.threshold) this.endpoint.recordRefusal()
      else this.endpoint.batcher.add(json, severity)
    }
    return this.#isOnly && isCovered
  }
}
