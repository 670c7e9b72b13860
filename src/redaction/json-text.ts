/** Positions in compact JSON text that is valid. */

export const QUOTE = 34
export const COLON = 58
export const OPEN_BRACE = 123
export const CLOSE_BRACE = 125
export const OPEN_BRACKET = 91
export const CLOSE_BRACKET = 93
const BACKSLASH = 92
const COMMA = 44

/** Position of the quote that closes the text whose opening one is at `at`; -1 where none does. */
export function findStringEnd(json: string, at: number): number {
  for (let quote = json.indexOf('"', at + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (json.charCodeAt(before) === BACKSLASH) before -= 1
    if ((quote - 1 - before) % 2 === 0) return quote
  }
  return -1
}

/** Position after the number or literal at `at`; `at` where there is none. */
export function findNumberEnd(json: string, at: number): number {
  let end = at
  for (; end < json.length; end += 1) {
    const code = json.charCodeAt(end)
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code === COLON) break
  }
  return end
}

/** Position after the value at `at`. */
export function findValueEnd(json: string, at: number): number {
  let open = 0
  let end = at
  do {
    const code = json.charCodeAt(end)
    if (code === QUOTE) end = findStringEnd(json, end) + 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      open += 1
      end += 1
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      open -= 1
      end += 1
    } else if (code === COMMA || code === COLON) end += 1
    else end = findNumberEnd(json, end)
  } while (open > 0 && end > 0 && end < json.length)
  return end
}
