/** What a spool is given. */
import type { Account } from '../account.js'
import type { Clock } from '../clock.js'
import type { UnreportedDrops } from '../notice.js'
import type { Machine } from './owner.js'
import type { SpoolTeller } from './telling.js'

export interface SpoolOptions {
  /** Default: a folder of the user's own in the system's for temporary files. */
  readonly dir?: string | undefined
  /** Bytes of the whole root. */
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly durability: 'process' | 'power'
  readonly url: string
  readonly apiKey: string
  /** Batches that were written under these are sent, too. */
  readonly previousApiKeys?: readonly string[]
  /** Of other spools of this process: what lies there is sent by them. */
  readonly siblingUrls?: readonly string[] | undefined
  /** Whether what lies there for other URLs and keys is aged, and told. Default true. */
  readonly looksAtOthers?: boolean | undefined
  readonly clock: Clock
  readonly account: Account
  readonly tell: SpoolTeller
  /** Something to send may have been found. */
  readonly onFound: () => void
  readonly onPreviousDrops?: ((drops: UnreportedDrops) => void) | undefined
  readonly machine?: Machine
}
