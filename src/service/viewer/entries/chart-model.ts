/** Names, colors and units of a chart's lines (pure). */
import type { Level } from '../../../protocol/log-entry.js'
import { LEVELS } from '../../../protocol/log-entry.js'
import type { ChartData, ChartSeries } from '../../query/api-types.js'
import { addTerm, excludeValues, parseSearch, printChart, resolveFieldName } from '../../query/language/index.js'
import type { Chart } from '../../query/language/index.js'
import { MAX_FILTER_CHARS } from '../detail/fact.js'
import type { PlotLine } from '../plot-scale.js'
import { hueStyle, serviceStyle } from '../service-color.js'
import { formatBytes, formatCount, formatDuration, formatNumber, formatPlural } from '../view-format.js'

export interface ChartLine extends PlotLine, ChartSeries {
  /** Adds the line's value to a filter; undefined for a line of several values. */
  readonly narrow?: (q: string) => string
}

/** Null if the text of the address is invalid. */
export function readChart(text: string): Chart | null {
  return parseSearch(`| ${text}`).chart ?? null
}

const DASHES = ['', '7 3', '2 3', '10 3 2 3', '14 4', '4 6', '10 3 2 3 2 3', '1 5']

export function createLines({ groups, others }: ChartData, chart: Chart): readonly ChartLine[] {
  const { by } = chart
  const lines = groups.map((group, at): ChartLine => {
    const { name } = group
    const line = { ...group, key: name === null ? 'none' : `=${name}`, class: 'service', dashes: DASHES[at] ?? '' }
    if (by === null) return { ...line, text: printChart(chart), style: hueStyle(at) }
    if (name === null) return { ...line, text: `no ${by}`, style: hueStyle(at), narrow: (q) => excludeValues(q, by) }
    const isShort = name.length <= MAX_FILTER_CHARS
    return {
      ...line,
      text: name === '' || name === `no ${by}` ? `"${name}"` : name,
      style: findStyle(by, name, at),
      ...(isShort && { narrow: (q) => addTerm(q, by, name) }),
    }
  })
  if (others === null) return lines
  const text = formatPlural(others.groups, 'other')
  return [...lines, { ...others, key: 'others', class: 'others', dashes: '3 3', text }]
}

function findStyle(by: string, name: string, at: number): NonNullable<PlotLine['style']> {
  const field = resolveFieldName(by)
  if (field === 'level' && LEVELS.includes(name as Level)) return { color: `var(--${name})` }
  return field === 'service' ? serviceStyle(name) : hueStyle(at)
}

/** Formats a value of the chart, with the unit that the name of its field tells. */
export function findFormat({ field }: Chart): (value: number) => string {
  const name = field === null ? '' : resolveFieldName(field)
  if (/(?:^|\.)(?:duration|responseTime|response_time)$|_ms$|[a-z]Ms$/.test(name)) return formatDuration
  if (/bytes$/i.test(name)) return formatBytes
  return /_mb$|[a-z]MB$/.test(name) ? (value) => `${formatNumber(value)} MB` : formatNumber
}

export function describeChart(lines: readonly ChartLine[], chart: Chart): string {
  const format = findFormat(chart)
  const texts = lines.map(({ text, value, count }) => `${text} ${format(value)} in ${formatCount(count)} entries`)
  return `${printChart(chart)}: ${texts.join(', ')}. The values can be shown as a table.`
}
