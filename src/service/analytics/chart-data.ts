/** Computes a function of entries over time, by the values of a field (pure). */
import type { ChartData, ChartSeries } from '../query/api-types.js'
import { compareTexts } from '../query/compare-texts.js'
import { listValues } from '../query/field-values.js'
import type { Chart } from '../query/language/chart.js'
import { resolveFieldName } from '../query/language/fields.js'
import { parseNumber } from '../query/language/operands.js'
import { findEntryReader } from '../query/matching/field-readers.js'
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
}

/** One number of an entry in one of its groups. */
interface Sample {
  readonly group: Group
  readonly bucket: number
  readonly number: number
}

export function createChart(entries: Iterable<IndexedEntry>, chart: Chart, buckets: TimeBuckets): ChartData {
  const { groups, samples, ...counts } = collectSamples(entries, chart, buckets)
  const sorted = groups.toSorted((a, b) => b.count - a.count || compareTexts(a.name ?? '', b.name ?? ''))
  const [first, others] = [sorted.slice(0, MAX_GROUPS), sorted.slice(MAX_GROUPS)]
  const places = new Map(first.map((group, at) => [group, at]))
  const numbers: number[][][] = Array.from({ length: first.length + 1 }, () =>
    Array.from({ length: buckets.count }, () => []),
  )
  for (const { group, bucket, number } of samples) numbers[places.get(group) ?? first.length]?.[bucket]?.push(number)
  const toSeries = (at: number, members: readonly Group[]): ChartSeries => ({
    count: members.reduce((sum, { count }) => sum + count, 0),
    value: compute(chart.name, numbers[at]?.flat() ?? []) ?? 0,
    values: numbers[at]?.map((found) => compute(chart.name, found)) ?? [],
  })
  return {
    since: formatBucketStart(buckets, 0),
    until: formatBucketStart(buckets, buckets.count),
    step_ms: buckets.stepMs,
    groups: first.map((group, at) => ({ name: group.name, ...toSeries(at, [group]) })),
    others: others.length === 0 ? null : { groups: others.length, ...toSeries(first.length, others) },
    ...counts,
  }
}

/** Reads each entry once. */
function collectSamples(entries: Iterable<IndexedEntry>, { field, by }: Chart, buckets: TimeBuckets) {
  const readNumbers = field === null ? undefined : findEntryReader(resolveFieldName(field))
  const readNames = by === null ? undefined : findEntryReader(resolveFieldName(by), true)
  const groups = new Map<string | null, Group>()
  const samples: Sample[] = []
  let [without_number, before, after] = [0, 0, 0]
  for (const entry of entries) {
    const bucket = findBucketIndex(buckets, entry.timeMs)
    const numbers = readNumbers === undefined ? ONE : listNumbers(readNumbers(entry))
    if (bucket < 0) before++
    else if (bucket >= buckets.count) after++
    else if (numbers.length === 0) without_number++
    else
      for (const name of readNames === undefined ? NO_NAME : listNames(readNames(entry))) {
        const group = groups.get(name) ?? { name, count: 0 }
        if (group.count === 0) groups.set(name, group)
        group.count++
        for (const number of numbers) samples.push({ group, bucket, number })
      }
  }
  return { groups: [...groups.values()], samples, without_number, before, after }
}

/** The number of an entry that is only counted. */
const ONE: readonly number[] = [1]
const NO_NAME: readonly null[] = [null]

function listNames(value: FieldValue): Iterable<string | null> {
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

/** @returns null if the function has no value without numbers */
function compute(name: Chart['name'], numbers: readonly number[]): number | null {
  const { length } = numbers
  const sum = (): number => numbers.reduce((total, one) => total + one, 0)
  if (name === 'count') return length
  if (name === 'sum') return sum()
  if (length === 0) return null
  if (name === 'avg') return sum() / length
  if (name === 'min') return numbers.reduce((least, one) => Math.min(least, one))
  if (name === 'max') return numbers.reduce((most, one) => Math.max(most, one))
  return findPercentile(Float64Array.from(numbers).toSorted(), Number(name.slice(1)))
}
