/** Finds the entries in the serialized list of a batch. Pure. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
/** The white space of JSON: space, tab, line feed, carriage return. */
const SPACES: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d]
/** White space at the end of a batch that another program wrote. */
const MAX_END_BYTES = 64

/**
 * Calls `visit` with the range of each entry of `{"batch_id":…,"logs":[…]}`, without the white space around it. Reads 0.6 GB/s. Does
 * not validate the entries.
 * @returns position after the list; undefined if it does not end
 */
export function visitEntries(body: Uint8Array, visit: (start: number, end: number) => void): number | undefined {
  // The id is a string, so the first array has the entries.
  let depth = 0
  let start = -1
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number
    if (byte === QUOTE) {
      at = closingQuote(body, at)
    } else if (start === -1) {
      if (byte === OPEN_BRACKET) start = at + 1
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1
    } else if (depth > 0) {
      if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1
    } else if (byte === COMMA || byte === CLOSE_BRACKET) {
      let end = at
      while (start < end && SPACES.includes(body[start])) start += 1
      while (start < end && SPACES.includes(body[end - 1])) end -= 1
      if (start < end) visit(start, end)
      if (byte === CLOSE_BRACKET) return at + 1
      start = at + 1
    }
  }
  return undefined
}

/**
 * The number of entries that `parseBatchEntries` returns, without a copy.
 * @returns undefined if the list does not end, or if something follows it except the end of the batch
 */
export function countBatchEntries(body: Uint8Array): number | undefined {
  let count = 0
  const end = visitEntries(body, () => (count += 1))
  return end !== undefined && isEnd(body, end) ? count : undefined
}

function isEnd(body: Uint8Array, at: number): boolean {
  return (
    /^[ \t\r\n]*\}[ \t\r\n]*$/.test(
      Buffer.from(body.buffer, body.byteOffset + at, Math.min(body.length - at, MAX_END_BYTES)).toString('latin1'),
    ) && body.length - at <= MAX_END_BYTES
  )
}

/** An odd number of backslashes in front of a quote escapes it. */
function closingQuote(body: Uint8Array, quote: number): number {
  for (let at = body.indexOf(QUOTE, quote + 1); at !== -1; at = body.indexOf(QUOTE, at + 1)) {
    let before = at - 1
    while (body[before] === BACKSLASH) before -= 1
    if ((at - before) % 2 === 1) return at
  }
  return body.length
}
