/** Options of a spool. */
import type { Account } from '../diagnostics/account.js'
import type { Clock } from '../shared/clock.js'
import type { Machine } from './instance/ownership.js'
import type { SpoolReports } from './spool-reporter.js'

export interface SpoolOptions {
  /** Default: a folder per user in the system's folder for temporary files. */
  readonly dir?: string | undefined
  /** Size limit of the whole root. */
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly durability: 'process' | 'power'
  readonly url: string
  /** Shown with the destination by the command line. */
  readonly service?: string | undefined
  readonly apiKey: string
  /** Batches written under these keys are also sent. */
  readonly previousApiKeys?: readonly string[]
  /** URLs of other spools of this process, which send their own entries. */
  readonly siblingUrls?: readonly string[] | undefined
  /** Whether entries of other URLs and keys are expired and reported. Default true. */
  readonly shouldScanOthers?: boolean | undefined
  readonly clock: Clock
  readonly account: Account
  readonly report: SpoolReports
  /** Called when there may be new entries to send. */
  readonly onFound: () => void
  readonly machine?: Machine
}
