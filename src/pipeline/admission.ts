/**
 * Decides whether a new entry is admitted. Near the limit of memory or disk, entries of low severity are refused, which
 * reserves the remaining space for entries of higher severity.
 */
import type { DropReason } from '../diagnostics/account.js'

export interface Store {
  /** Share of its limit in use. */
  readonly usedShare: number
}

export interface AdmissionOptions {
  /** `isNewestMemoryOnly`: whether new entries are not written to disk. */
  readonly memory: Store & { readonly isNewestMemoryOnly: boolean }
  readonly disk?: Store | undefined
}

/**
 * Share of the limit from which entries of a severity (debug, info) are refused. Higher severities are never refused.
 */
const REFUSE_FROM = [0.8, 0.9] as const

export class Admission {
  readonly #options: AdmissionOptions

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /** Lowest severity admitted at present: 0 (debug) if all are. */
  get threshold(): number {
    const { memory, disk } = this.#options
    const usedShare = memory.isNewestMemoryOnly ? memory.usedShare : (disk?.usedShare ?? 0)
    if (usedShare < REFUSE_FROM[0]) return 0
    return usedShare < REFUSE_FROM[1] ? 1 : 2
  }

  /** Reason for refusing an entry below the threshold. */
  get reason(): DropReason & ('buffer' | 'spool') {
    return this.#options.memory.isNewestMemoryOnly ? 'buffer' : 'spool'
  }
}
