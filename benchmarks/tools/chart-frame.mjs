/** The common parts of every chart: background, light and dark colors, title, and text that is escaped for XML. */

export const WIDTH = 860
export const MARGIN = 28
const FOOTER_HEIGHT = 30
/** An estimate of the character width, since no font is available; large enough for most characters. */
const EM = 0.56
const BOLD_EM = 0.64

const OURS = ['#d9480f', '#f59f00', '#a61e4d', '#862e9c']
const OURS_DARK = ['#ff8c42', '#ffd43b', '#f783ac', '#da77f2']
const OTHERS = ['#7b93ab', '#4c6ef5', '#2b8a3e', '#1098ad', '#5f3dc4', '#868e96', '#66a80f', '#364fc7']
const OTHERS_DARK = ['#8ea6bd', '#748ffc', '#69db7c', '#3bc9db', '#9775fa', '#adb5bd', '#c0eb75', '#91a7ff']
export const COLORS = { ours: OURS.length, others: OTHERS.length }

const LIGHT = rules(
  {
    ground: '#ffffff',
    edge: '#d8dee4',
    loud: '#1f2328',
    soft: '#59636e',
    grid: '#e4e9ee',
    whisker: '#3d4650',
    band: '#fff7db',
  },
  OURS,
  OTHERS,
)
const DARK = rules(
  {
    ground: '#161b22',
    edge: '#30363d',
    loud: '#e6edf3',
    soft: '#9198a1',
    grid: '#2a313a',
    whisker: '#c9d1d9',
    band: '#2e2711',
  },
  OURS_DARK,
  OTHERS_DARK,
)

/** @param {Record<string, string>} colors @param {readonly string[]} ours @param {readonly string[]} others */
function rules({ ground, edge, loud, soft, grid, whisker, band }, ours, others) {
  const series = [...ours.map((color, n) => [`ours-${n}`, color]), ...others.map((color, n) => [`other-${n}`, color])]
  return [
    `.card{fill:${ground};stroke:${edge}}.text{fill:${loud}}.soft{fill:${soft}}`,
    `.grid{stroke:${grid}}.axis{stroke:${soft}}.whisker{stroke:${whisker}}.band{fill:${band}}`,
    ...series.map(([name, color]) => `.fill-${name}{fill:${color}}.line-${name}{stroke:${color}}`),
  ].join('')
}

/**
 * @param {{ title: string, subtitle?: string | undefined, description: string, height: number, body: string }} chart
 *   the body extends from y = 0 to `height`, below the title @returns {string} SVG
 */
export function card({ title, subtitle, description, height, body }) {
  const head = headOf(title, subtitle)
  const whole = Math.ceil(head.height + height + FOOTER_HEIGHT)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${whole}" viewBox="0 0 ${WIDTH} ${whole}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="desc">${escaped([subtitle, description].filter((part) => part !== undefined && part !== '').join('. '))}</desc>`,
    `<style>text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}${LIGHT}@media (prefers-color-scheme:dark){${DARK}}</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${whole - 1}" rx="8"/>`,
    head.body,
    `<g transform="translate(0 ${head.height})">`,
    body,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/**
 * Adds a small line at the bottom of a finished chart; every chart leaves room for it. @param {string} svg @param
 * {string} footer
 */
export function withFooter(svg, footer) {
  const height = Number(/ height="(\d+)"/.exec(svg)?.[1])
  const end = svg.lastIndexOf('</svg>')
  const line = text(MARGIN, height - 12, footer, { size: 11, isSoft: true, width: WIDTH - 2 * MARGIN })
  return `${svg.slice(0, end)}${line}\n${svg.slice(end)}`
}

/** @param {string} title @param {string | undefined} subtitle */
function headOf(title, subtitle) {
  const width = WIDTH - 2 * MARGIN
  let y = 14
  const lines = []
  for (const line of wrapped(title, width, 18, true))
    lines.push(text(MARGIN, (y += 23), line, { size: 18, isBold: true, width }))
  for (const line of wrapped(subtitle ?? '', width, 13))
    lines.push(text(MARGIN, (y += 19), line, { size: 13, isSoft: true, width }))
  return { height: y + 14, body: lines.join('\n') }
}

/**
 * One line of text. Text wider than its place is compressed, since cutting would change its meaning.
 *
 * @param {number} x @param {number} y of the baseline @param {string} words
 * @param {{ size?: number, anchor?: 'start' | 'middle' | 'end', isSoft?: boolean, isBold?: boolean, width?: number, turned?: boolean }} [how]
 */
export function text(
  x,
  y,
  words,
  { size = 12, anchor = 'start', isSoft = false, isBold = false, width, turned = false } = {},
) {
  const squeezed =
    width !== undefined && widthOf(words, size, isBold) > width
      ? ` textLength="${Math.max(1, Math.floor(width))}" lengthAdjust="spacingAndGlyphs"`
      : ''
  const turn = turned ? ` transform="rotate(-90 ${x} ${y})"` : ''
  const weight = isBold ? ' font-weight="600"' : ''
  return `<text class="${isSoft ? 'soft' : 'text'}" x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}"${weight}${squeezed}${turn}>${escaped(words)}</text>`
}

/** @param {string} words @param {number} size @param {boolean} [isBold] */
export function widthOf(words, size, isBold = false) {
  return words.length * size * (isBold ? BOLD_EM : EM)
}

/** @param {string} words @param {number} width @param {number} size @param {boolean} [isBold] @returns {string[]} */
function wrapped(words, width, size, isBold = false) {
  /** @type {string[]} */
  const lines = []
  for (const word of words.split(/\s+/).filter((part) => part !== '')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`.trim()
    if (lines.length > 0 && widthOf(longer, size, isBold) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** Characters that XML does not allow even escaped become the replacement character. @param {string} words */
export function escaped(words) {
  return words
    .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
