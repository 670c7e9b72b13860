/** Finds a text that every match of a regular expression contains (pure). Searching for it first is many times faster. */

const SPECIAL = /[\\^$.*+?()[\]{}|]/
/** Letters with more than two case variants: `ſ` is an s, the Kelvin sign a k. */
const FOLDED = /[ks]/i

/**
 * @param source in RE2's syntax
 * @param isFolded whether any part of the expression ignores case
 * @returns the longest required text outside of groups; empty if there is none
 */
export function findLiteral(source: string, isFolded: boolean): string {
  let longest = ''
  let run = ''
  const endRun = (): void => {
    if (run.length > longest.length) longest = run
    run = ''
  }
  for (let at = 0; at < source.length; at++) {
    const character = source[at] as string
    if (character === '|') return ''
    if (character === '*' || character === '?' || character === '{') {
      // The quantifier makes the previous character optional.
      run = run.slice(0, -1)
      endRun()
      if (character === '{') at = skipTo(source, at, '}')
    } else if (character === '(') {
      endRun()
      at = findGroupEnd(source, at)
    } else if (character === '[') {
      endRun()
      at = findClassEnd(source, at)
    } else if (character === '\\') {
      const next = source[++at] ?? ''
      if (/[a-zA-Z0-9]/.test(next)) {
        endRun()
        // Escapes such as `\x41` have further characters.
        if (!/[dDwWsSbBAz]/.test(next)) return longest
      } else run += next
    } else if (SPECIAL.test(character)) endRun()
    else if (character > '~' || (isFolded && FOLDED.test(character))) endRun()
    else run += character
  }
  endRun()
  return longest
}

function skipTo(source: string, from: number, end: string): number {
  const at = source.indexOf(end, from)
  return at === -1 ? source.length : at
}

function findGroupEnd(source: string, from: number): number {
  let depth = 0
  for (let at = from; at < source.length; at++) {
    if (source[at] === '\\') {
      // The bracket in `\Q(\E` is text.
      if (source[at + 1] === 'Q') return source.length
      at++
    } else if (source[at] === '[') at = findClassEnd(source, at)
    else if (source[at] === '(') depth++
    else if (source[at] === ')' && --depth === 0) return at
  }
  return source.length
}

function findClassEnd(source: string, from: number): number {
  // A `]` at the beginning is a member of the class.
  const first = from + (source[from + 1] === '^' ? 2 : 1)
  for (let at = source[first] === ']' ? first + 1 : first; at < source.length; at++) {
    if (source[at] === '\\') {
      if (source[at + 1] === 'Q') return source.length
      at++
    } else if (source.startsWith('[:', at) && source.includes(':]', at)) at = source.indexOf(':]', at) + 1
    else if (source[at] === ']') return at
  }
  return source.length
}
