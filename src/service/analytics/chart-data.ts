/** Computes a function of entries over time, by the values of a field (pure). */
import type { ChartData, ChartSeries } from '../query/api-types.js'
import { compareTexts } from '../query/compare-texts.js'
import { listValues } from '../query/field-values.js'
import type { Chart } from '../query/language/chart.js'
import { resolveFieldName } from '../query/language/fields.js'
import { parseNumber } from '../query/language/operands.js'
import { ENTRIES, findReader } from '../query/matching/field-readers.js'
import type { FieldValue } from '../query/matching/record-readers.js'
import type { IndexedEntry } from '../store/indexed-record.js'
import { findPercentile } from './route-stats.js'
import { findBucketIndex, formatBucketStart } from './time-buckets.js'
import type { TimeBuckets } from './time-buckets.js'

/** More lines could not be told apart. */
const MAX_GROUPS = 8

const NOTHING = { groups: [], others: null, without_number: 0, before: 0, after: 0 }
export const NO_CHART: ChartData = { since: null, until: null, step_ms: 0, ...NOTHING }

interface Group {
  readonly name: string | null
  count: number
  /** Index of the group's line. All groups after the first `MAX_GROUPS` share the last line. */
  line: number
}

interface Sample {
  readonly groups: readonly Group[]
  readonly bucket: number
  readonly numbers: readonly number[]
}

export function computeChartData(entries: Iterable<IndexedEntry>, chart: Chart, buckets: TimeBuckets): ChartData {
  const { groups, samples, ...counts } = collectSamples(entries, chart, buckets)
  const sorted = groups.toSorted((a, b) => b.count - a.count || compareTexts(a.name ?? '', b.name ?? ''))
  const [first, others] = [sorted.slice(0, MAX_GROUPS), sorted.slice(MAX_GROUPS)]
  first.forEach((group, at) => (group.line = at))
  const lines = Array.from({ length: MAX_GROUPS + 1 }, () => ({
    count: 0,
    numbers: Array.from({ length: buckets.count }, (): number[] => []),
  }))
  for (const { groups: own, bucket, numbers } of samples) {
    let isInOthers = false
    for (const { line: at } of own) {
      // Once, also if several of the other groups have the entry.
      if (at === MAX_GROUPS && isInOthers) continue
      isInOthers ||= at === MAX_GROUPS
      const line = lines[at] as (typeof lines)[number]
      line.count++
      for (const number of numbers) line.numbers[bucket]?.push(number)
    }
  }
  const series = lines.map(({ count, numbers }): ChartSeries => ({
    count,
    value: compute(chart.name, numbers.flat()) ?? 0,
    values: numbers.map((found) => compute(chart.name, found)),
  }))
  return {
    since: formatBucketStart(buckets, 0),
    until: formatBucketStart(buckets, buckets.count),
    step_ms: buckets.stepMs,
    groups: first.map(({ name, line }) => ({ name, ...(series[line] as ChartSeries) })),
    others: others.length === 0 ? null : { groups: others.length, ...(series[MAX_GROUPS] as ChartSeries) },
    ...counts,
  }
}

/** Fields whose values are alternative names of one thing. Only the first name is used. */
const SINGLE_NAME_FIELDS: ReadonlySet<string> = new Set(['user', 'error'])

function collectSamples(entries: Iterable<IndexedEntry>, { field, by }: Chart, buckets: TimeBuckets) {
  const readNumbers = field === null ? undefined : findReader(ENTRIES, resolveFieldName(field))
  const group = by === null ? null : resolveFieldName(by)
  const readNames = group === null ? undefined : findReader(ENTRIES, group, true)
  const maxNames = group !== null && SINGLE_NAME_FIELDS.has(group) ? 1 : Infinity
  const groups = new Map<string | null, Group>()
  const findGroup = (name: string | null): Group => {
    const known = groups.get(name)
    if (known !== undefined) return known
    const added = { name, count: 0, line: MAX_GROUPS }
    groups.set(name, added)
    return added
  }
  const samples: Sample[] = []
  let [without_number, before, after] = [0, 0, 0]
  for (const entry of entries) {
    const bucket = findBucketIndex(buckets, entry.timeMs)
    const numbers = readNumbers === undefined ? ONE : listNumbers(readNumbers(entry))
    if (bucket < 0) before++
    else if (bucket >= buckets.count) after++
    else if (numbers.length === 0) without_number++
    else {
      const names = readNames === undefined ? NO_NAME : listNames(readNames(entry)).slice(0, maxNames)
      const own = names.map(findGroup)
      for (const one of own) one.count++
      samples.push({ groups: own, bucket, numbers })
    }
  }
  return { groups: [...groups.values()], samples, without_number, before, after }
}

/** The number of an entry that is only counted. */
const ONE: readonly number[] = [1]
const NO_NAME: readonly null[] = [null]

function listNames(value: FieldValue): readonly (string | null)[] {
  if (typeof value === 'string') return [value]
  const names = [...listValues(value)]
  return names.length === 0 ? NO_NAME : names
}

/** Finite numbers, also written as text, as comparisons of the query language accept them. */
function listNumbers(value: FieldValue): readonly number[] {
  const number = typeof value === 'string' ? parseNumber(value) : value
  if (typeof number === 'number') return Number.isFinite(number) ? [number] : []
  return typeof number === 'object' && number !== null ? Object.values(number).flatMap(listNumbers) : []
}

/** @returns a finite number, as JSON has no others; null if there are no numbers; 0 for `count` */
function compute(name: Chart['name'], numbers: readonly number[]): number | null {
  const { length } = numbers
  if (name === 'count') return length
  if (length === 0) return null
  if (name === 'min') return numbers.reduce((least, one) => Math.min(least, one))
  if (name === 'max') return numbers.reduce((most, one) => Math.max(most, one))
  if (name.startsWith('p')) return findPercentile(Float64Array.from(numbers).toSorted(), Number(name.slice(1)))
  const sum = numbers.reduce((total, one) => total + one)
  if (name === 'sum') return clampToFinite(sum)
  return Number.isFinite(sum) ? sum / length : clampToFinite(numbers.reduce((mean, one) => mean + one / length, 0))
}

function clampToFinite(number: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, number))
}
