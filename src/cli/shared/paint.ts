/** Colours, where people look: on a terminal, unless NO_COLOR or FORCE_COLOR says otherwise. Pure. */

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const

export type Style = keyof typeof CODES

export type Paint = (style: Style, text: string) => string

export const PLAIN: Paint = (_, text) => text

const COLOURED: Paint = (style, text) => {
  const [on, off] = CODES[style]
  return `\u001b[${on}m${text}\u001b[${off}m`
}

/** FORCE_COLOR wins, as in Node. @see https://no-color.org */
export function createPaint(
  { isTTY }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const { FORCE_COLOR: forced, NO_COLOR: none, TERM: term } = env
  if (forced !== undefined) return ['0', 'false'].includes(forced) ? PLAIN : COLOURED
  return isTTY === true && (none ?? '') === '' && term !== 'dumb' ? COLOURED : PLAIN
}
