/** Places in the kernel's memory, as in `assembly/memory.ts`. */
export const RESULT = 0x1_0000
export const OPTION = 0x1_0400
export const LEVELS = 0x1_0800
export const KEYS = 0x1_4000
export const INNER_KEYS = 0x1_8000
export const BREADCRUMB_KEYS = 0xa000
export const PARAMS = 0x1_c000
export const TEXTS = 0x2_0000
export const TEXTS_END = 0x4_0000
export const OUTPUT = 0x30_0000
/** Breadcrumbs that are not appended to an entry. */
export const BREADCRUMB = 0x48_0000
/** The lines, see `LineRing`. */
export const LINES = 0x60_0000
/** Longer lines are not passed to the kernel. */
export const MAX_LINE_BYTES = 256 * 1024
export const PAGE_BYTES = 64 * 1024

/** Indices of results, in 32-bit numbers. */
export const Result = {
  severity: 0,
  start: 1,
  end: 2,
  flags: 3,
  trace: 4,
  request: 6,
  session: 8,
  fingerprint: 10,
  ownRequest: 12,
  headers: 16,
  asked: 24,
} as const

export const Flag = {
  hasRequest: 1,
  hasStart: 2,
  hasStatus: 4,
  ownTrace: 8,
  header: 16,
  urlSecret: 32,
} as const
