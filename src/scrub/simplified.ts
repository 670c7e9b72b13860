/** An expression as the analysis of backtracking takes it: the same ways through it, with smaller numbers and without names. Pure. */

const TOKEN = /\\k<([^>]*)>|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\(\?<([^=!>][^>]*)>|\((?!\?)|\{(\d+)(?:(,)(\d*))?\}|[^]/g

/** So often is enough to see in how many ways a character is read, and a group; the analysis follows each round of its own. */
const CHARACTER_ROUNDS = 3
const GROUP_ROUNDS = 8
const CHOICES = 6
/** Beyond it a bound is none. */
const MANY_CHOICES = 100

/**
 * `[a-z]{24}` becomes `[a-z]{3}`, `\d{2,80}` becomes `\d{2,8}`, `.{0,9999}` becomes `.{0,}`, `(?<name>` becomes `(`, and
 * `\k<name>` the group's number.
 */
export function simplified(source: string): string {
  const tokens = [...source.matchAll(TOKEN)]
  const names = tokens.filter(([token, , name]) => token === '(' || name !== undefined).map(([, , name]) => name)
  return tokens.map(([token, referred, name, least, comma, most], index) => {
    if (referred !== undefined) return `\\${names.indexOf(referred) + 1}`
    if (name !== undefined) return '('
    if (least === undefined) return token
    const rounds = Math.min(Number(least), tokens[index - 1]?.[0] === ')' ? GROUP_ROUNDS : CHARACTER_ROUNDS)
    if (comma === undefined) return `{${rounds}}`
    const choices = most === '' ? Infinity : Number(most) - Number(least)
    return choices > MANY_CHOICES ? `{${rounds},}` : `{${rounds},${Math.max(1, rounds + Math.min(choices, CHOICES))}}`
  }).join('')
}
