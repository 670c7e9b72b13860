/** Opens the spool of an endpoint from the settings. */
import type { EndpointReporter } from '../diagnostics/reporter.js'
import type { Settings } from '../options/settings.js'
import { Spool } from './spool.js'
import type { SpoolOptions } from './spool-options.js'

export interface EndpointSpoolOptions extends Pick<
  SpoolOptions,
  'url' | 'siblingUrls' | 'shouldScanOthers' | 'clock' | 'account' | 'onFound'
> {
  readonly settings: Pick<Settings, 'enabled' | 'spool' | 'apiKey' | 'previousApiKeys' | 'service' | 'fallbackService'>
  readonly report: Pick<EndpointReporter, 'problem' | 'note' | 'dropped'>
}

/** @returns undefined if the settings have no spool */
export function openSpool({ settings, report, ...options }: EndpointSpoolOptions): Spool | undefined {
  const { enabled, spool, apiKey, previousApiKeys, service, fallbackService } = settings
  if (!enabled || spool === false) return undefined
  const opened = new Spool({
    ...spool,
    ...options,
    service: service ?? fallbackService,
    apiKey: apiKey.reveal(),
    previousApiKeys: previousApiKeys.map((key) => key.reveal()),
    report: {
      problem: (message) => report.problem('SPOOL', message),
      note: (kind, message) => report.note(kind, message),
      dropped: (count, reason, detail) => report.dropped(count, reason, detail),
    },
  })
  apiKey.changed.on((key) => opened.replaceKey(key))
  return opened
}
