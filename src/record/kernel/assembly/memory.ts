/**
 * The places of the kernel's memory, which `../kernel-memory.ts` repeats. All are allocated once.
 *
 * `load` may read up to 64 bytes beyond a range, but no result depends on those bytes.
 */
/** Results of the last line, as 32-bit numbers; see `Result`. */
export const RESULT: usize = 0x1_0000
/** Values of the options, see `Option`. */
export const OPTION: usize = 0x1_0400
export const LEVELS: usize = 0x1_0800
/** Hash tables of keys: those of a record, and those of the objects within it. */
export const KEYS: usize = 0x1_4000
export const INNER_KEYS: usize = 0x1_8000
export const BREADCRUMB_KEYS: usize = 0x0_a000
/** Hash table of the parameters of URLs whose values are redacted. */
export const PARAMS: usize = 0x1_c000
/** Hash table of the keys that a record has already had. */
export const SEEN: usize = 0x4_0000
/** Members that are copied, as pairs of start and end. */
export const MEMBERS: usize = 0x5_0000
/** Positions of quotes and structural characters. */
export const INDEX: usize = 0x6_0000
/** Texts that `ask` wrote for this line. */
export const ANSWERS: usize = 0x20_0000
/** Entries. */
export const OUTPUT: usize = 0x30_0000

/** Offsets of results. */
export namespace Result {
  export const SEVERITY: usize = 0
  export const START: usize = 4
  export const END: usize = 8
  export const FLAGS: usize = 12
  // Ranges: start and end, quoted if text.
  export const TRACE: usize = 16
  export const REQUEST: usize = 24
  export const SESSION: usize = 32
  export const FINGERPRINT: usize = 40
  export const OWN_REQUEST: usize = 48
  export const HEADERS: usize = 64 // of the request and of the response, and the user agent within the first
  // Arguments and answers of `ask`.
  export const ASKED: usize = 96
}

export namespace Flag {
  export const HAS_REQUEST: u32 = 1
  export const HAS_START: u32 = 2
  export const HAS_STATUS: u32 = 4
  export const OWN_TRACE: u32 = 8
  export const HEADER: u32 = 16
  export const URL_SECRET: u32 = 32
}

/** Places of the options' texts. */
export namespace Option {
  export const THRESHOLD: usize = 16
  export const REQUEST_THRESHOLD: usize = 20
  export const IDENTITY: usize = 24
  export const SERVICE: usize = 32
  export const FALLBACK: usize = 40
  export const ENVIRONMENT: usize = 48
  export const VERSION: usize = 56
  export const RELEASE: usize = 64
  export const DEPLOY: usize = 72
  export const TAGS: usize = 80
  export const METADATA: usize = 88
  export const REQ: usize = 96
  export const RES: usize = 104
  export const HAS_NAME: usize = 112
  export const NOTE: usize = 116
  /** Whether `req` and `res` have other names. */
  export const IS_RENAMED: usize = 124
}
