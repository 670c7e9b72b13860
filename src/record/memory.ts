/**
 * Addresses in the kernel's memory, and the numbers that JavaScript and the kernel share. All memory is allocated once. `load` may read up to 64 bytes beyond a range, but no result depends on those bytes.
 */
/** Results of the latest call, as 32-bit numbers; see `Result`. */
export const RESULT = 0x1_0000
/** Values of the options, see `Option`. */
export const OPTION = 0x1_0400
export const LEVELS = 0x1_0800
/** Hash tables of keys: those of a record, and those of the objects within it. */
export const KEYS = 0x1_4000
export const INNER_KEYS = 0x1_8000
export const BREADCRUMB_KEYS = 0xa000
/** Hash table of the parameters of URLs whose values are redacted. */
export const PARAMS = 0x1_c000
/** Texts of the options and of levels. */
export const TEXTS = 0x2_0000
export const TEXTS_END = 0x4_0000
/** Hash table of the keys that a record has already had. */
export const SEEN = 0x4_0000
/** Members that are copied, as pairs of start and end. */
export const MEMBERS = 0x5_0000
/** Positions of quotes and structural characters. */
export const INDEX = 0x6_0000
/** Texts that `ask` wrote for this line. */
export const ANSWERS = 0x20_0000
/** The entries of a run, comma-separated. */
export const OUTPUT = 0x30_0000
/** Maximum size of a run of several entries. */
export const RUN_BYTES = 128 * 1024
/** An entry with its breadcrumbs ends before this address. Room for another breadcrumb follows, because the limit is checked after each. */
export const OUTPUT_LIMIT = 0x48_0000
/** Addresses of the rows that the latest error takes, newest first. */
export const FOUND_ROWS = 0x5f_0000
/** The number of the newest row of each bucket; 0 for none. The lowest bits of the first part of a scope's hash choose the bucket. */
export const HEADS = 0x60_0000
export const BUCKETS = 16_384
/** A ring of rows: one for each line that is a breadcrumb, and for each error that has taken breadcrumbs. */
export const ROWS = 0x62_0000
export const ROW_BYTES = 32
export const MAX_ROWS = 65_536
export const LINES = 0x82_0000
/** Longer lines are not passed to the kernel. */
export const MAX_LINE_BYTES = 256 * 1024
export const PAGE_BYTES = 64 * 1024

export namespace RunEnd {
  /** All lines are read, or a limit is reached. */
  export const LIMIT = 0
  /** The next line is mapped, and JavaScript builds its entry. */
  export const STOPPED = 1
  /** The next line is not mapped. */
  export const DECLINED = 2
}

/** Lines at which a run stops, as bits. */
export namespace Stop {
  export const EVERY_LINE = 1
  export const REQUEST_START = 2
  /** The end of a request, or a whole one. */
  export const REQUEST_END = 4
  /** A line that may be wrapped. It is declined unread. */
  export const MAYBE_WRAPPED = 8
}

export namespace Result {
  // Of a run, see `run`.
  export const FILTERED = 4
  export const REFUSED = 8
  export const ENTRIES = 12
  export const HIGHEST = 16
  export const OUTPUT_END = 20
  export const NEXT = 24
  // Of the latest line.
  export const SEVERITY = 28
  export const ENTRY_START = 32
  export const ENTRY_END = 36
  export const FLAGS = 40
  /** The hash of its scope, in two parts. */
  export const SCOPE = 44
  // Ranges: start and end, quoted if text.
  export const TRACE = 56
  export const FINGERPRINT = 64
  export const OWN_REQUEST = 72
  export const HEADERS = 80 // of the request and of the response, and the user agent within the first
  // Arguments and answers of `ask`.
  export const ASKED = 104
}

export namespace Flag {
  export const HAS_REQUEST = 1
  export const HAS_START = 2
  export const HAS_STATUS = 4
  /** The request has an id, and a start, an end or both. */
  export const IS_JOINABLE = 8
  export const HEADER = 16
  export const URL_SECRET = 32
}

/** Offsets of the options, and of state that both sides write. */
export namespace Option {
  export const SEED = 0
  export const HAS_FINGERPRINT = 8
  export const LEVEL_COUNT = 12
  /** Severities below which no entry is created; the second for entries with a request. */
  export const THRESHOLD = 16
  export const REQUEST_THRESHOLD = 20
  // Texts: start and end.
  export const IDENTITY = 24
  export const SERVICE = 32
  export const FALLBACK = 40
  export const ENVIRONMENT = 48
  export const VERSION = 56
  export const RELEASE = 64
  export const DEPLOY = 72
  export const TAGS = 80
  export const METADATA = 88
  export const MAX_ENTRY_BYTES = 128
  /** Lowest severity of a breadcrumb; higher than all if there are none. */
  export const BREADCRUMB_THRESHOLD = 132
  /** Maximum number of breadcrumbs of an entry. */
  export const BREADCRUMB_LIMIT = 136
  /** The number of the next row. 0 stands for none. */
  export const NEXT_ROW = 140
  /** Seconds on a monotonic clock, when the text arrived. */
  export const NOW = 144
  // 64-bit floating-point numbers.
  /** Distance from an error up to which lines become its breadcrumbs, in bytes. */
  export const BREADCRUMB_DISTANCE = 152
  /** Position in the ring up to which lines are overwritten. */
  export const OVERWRITTEN = 160
}

/** A line that is a breadcrumb, or an error that has taken breadcrumbs. */
export namespace Row {
  /** In the ring of lines, as 64-bit floating-point number. */
  export const POSITION = 0
  /** The hash of its scope, in two parts. */
  export const SCOPE = 8
  /** Number of bytes of the line, shifted by `SIZE_SHIFT`, and `RowFlag`. */
  export const SIZE_AND_FLAGS = 16
  /** The number of the row before in the same bucket. */
  export const PREVIOUS = 20
  /** As `Option.NOW`. */
  export const SECONDS = 24
  /** Address of the line. */
  export const ADDRESS = 28
}
export const SIZE_SHIFT = 4

export namespace RowFlag {
  /** The kernel mapped the line, and its sent parts have no secrets. */
  export const FREE_OF_SECRETS = 1
  /** The line already is a breadcrumb, as JSON. */
  export const IS_BREADCRUMB = 2
  /** The entry of the line took the breadcrumbs before it. */
  export const TOOK = 4
  /** An error below the level of breadcrumbs, of which only `TOOK` matters. */
  export const NOT_A_BREADCRUMB = 8
}

/** Seconds without a record, after which the earlier records of a scope are forgotten. */
export const SCOPE_SECONDS = 300
/** From this severity on, an entry gets the breadcrumbs of its scope. */
export const ERROR_SEVERITY = 3

/** The relation between records that share breadcrumbs. */
export namespace Scope {
  export const PROCESS = 0
  export const TRACE = 1
  export const REQUEST = 2
  export const SESSION = 3
}

/** What the kernel asks JavaScript, see `Answers`. */
export namespace Question {
  /** Adds a level to the table. */
  export const LEVEL = 0
  /** A second since the epoch as ISO 8601. */
  export const SECOND = 1
  export const FINGERPRINT = 2
  /** Whether a value may contain an HTTP exchange. */
  export const EXCHANGE = 3
  /** Fields and other members of a user. */
  export const USER = 4
  export const TAGS = 5
  /** The trace in the value of a header. */
  export const TRACE = 6
  export const METHOD = 7
  /** The breadcrumb of a row, at its place in memory. */
  export const BREADCRUMB = 8
  /** Type, message and stack of an error, its other members, a note about removed ones, and its source. */
  export const ERROR = 9
}

/** Treatment of a key of a record. */
export namespace Kind {
  export const DECLINED = 0
  export const MESSAGE = 1
  export const LEVEL = 2
  export const TIME = 3
  export const ERROR = 4
  export const REQ = 5
  export const RES = 6
  export const DURATION = 7
  export const NAME = 8
  export const SERVICE = 9
  export const ENVIRONMENT = 10
  export const VERSION = 11
  export const OTHER_ID = 12
  /** Copied unchanged, unless the value is a container. */
  export const HOLDER = 13
  export const USER = 14
  export const TAGS = 15
  /** The number of the field in `SLOT_FIELDS` is added. */
  export const SLOT = 16
  export const CATEGORY = 40
  export const LEFT_OUT = 41
}
