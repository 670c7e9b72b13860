/** Extracts request logs from HTTP records and sends them to a separate endpoint. */
import { EndpointPipeline } from './endpoint-pipeline.js'
import type { EndpointPipelineOptions } from './endpoint-pipeline.js'
import type { RequestKeys, Settings } from '../options/settings.js'
import type { Reporter } from '../diagnostics/reporter.js'
import { PATHS } from '../protocol/limits.js'
import type { RequestJoiner } from '../request-logs/request-joiner.js'
import { APPLICATION_MESSAGES } from '../diagnostics/messages.js'
import { MISSED_LIMIT, MissedRequests } from '../request-logs/missed-requests.js'
import type { MappedRecord } from '../record/mapped-record.js'
import { NO_REQUEST_LOG, RequestLogExtractor } from '../request-logs/request-log-extractor.js'
import { toRequestLogSettings } from './mapping-options.js'

export interface RequestLogPipelineOptions extends Pick<
  EndpointPipelineOptions,
  'account' | 'clock' | 'isInProcess' | 'mask' | 'pause' | 'target'
> {
  readonly report: Reporter
  readonly settings: Settings
  readonly joiner: RequestJoiner
  readonly requestKeys: RequestKeys
}

export function toRequestLogUrl(url: string): string {
  return url + PATHS.requests
}

export class RequestLogPipeline {
  readonly endpoint: EndpointPipeline
  readonly #logs: RequestLogExtractor
  readonly #missed = new MissedRequests()
  readonly #settings: Settings
  readonly #report: Reporter

  constructor({ settings, joiner, requestKeys, report, ...shared }: RequestLogPipelineOptions) {
    const { clock } = shared
    this.#logs = new RequestLogExtractor({ clock, joiner, requestKeys, ignore: settings.requestLogs.ignore })
    this.#settings = settings
    this.#report = report
    this.endpoint = new EndpointPipeline({
      ...shared,
      settings: toRequestLogSettings(settings),
      report: report.forRequestLogs(),
      url: toRequestLogUrl(settings.url),
      siblingUrls: [settings.url],
      shouldScanOthers: false,
      isShortenable: false,
    })
  }

  /** @returns whether the record must not be sent as an entry */
  add({ json: entryJson, hasRequest }: Pick<MappedRecord, 'json' | 'hasRequest'>): boolean {
    const { json, severity, isCovered } = hasRequest ? this.#logs.extract(entryJson) : NO_REQUEST_LOG
    if (json === undefined) {
      if (this.#missed.add(entryJson)) this.#reportMissed()
    } else {
      this.#missed.reset()
      this.endpoint.account.received += 1
      if (json === '') this.endpoint.account.filtered += 1
      else if (severity < this.endpoint.admission.threshold) this.endpoint.recordNotAdmitted(1)
      else this.endpoint.batcher.add(json, severity)
    }
    return this.#settings.requestLogs.only && isCovered
  }

  #reportMissed(): void {
    const { code, text } = APPLICATION_MESSAGES.requestsNotUnderstood
    this.#report.problem(code, text(MISSED_LIMIT))
  }
}
