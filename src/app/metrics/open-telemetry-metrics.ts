/**
 * [main] Metrics as observable instruments of OpenTelemetry. Finds its API without an import, as in `ingest-mixin.ts`.
 * The types describe only the used part of a meter, so they do not depend on OpenTelemetry's types.
 * @see https://opentelemetry.io/docs/specs/otel/metrics/api/#asynchronous-counter-creation
 */
import { IngestError } from '../../shared/errors.js'
import { formatValue } from '../../options/format-value.js'
import { VERSION } from '../../version.js'
import { LABELS } from './metric-families.js'
import type { LabelName, MetricFamily, MetricKind, MetricsState } from './metric-families.js'

/** Receives the values of an instrument (`ObservableResult` of `@opentelemetry/api`). */
export interface MetricsObservation {
  /** Reports a value. */
  observe(value: number, attributes?: Record<string, string>): void
}

/** An observable instrument (`Observable` of `@opentelemetry/api`). */
export interface MetricsInstrument {
  /** Adds a callback, which reports the values at each collection. */
  addCallback(callback: (result: MetricsObservation) => void): void
  /** Removes a callback. */
  removeCallback(callback: (result: MetricsObservation) => void): void
}

/** The used part of a `Meter` of `@opentelemetry/api`, 1.3 and later. */
export interface MetricsMeter {
  /** Creates an instrument for a sum that only increases. */
  createObservableCounter(name: string, options?: { description?: string; unit?: string }): MetricsInstrument
  /** Creates an instrument for a sum that can decrease. */
  createObservableUpDownCounter(name: string, options?: { description?: string; unit?: string }): MetricsInstrument
  /** Creates an instrument for a current value. */
  createObservableGauge(name: string, options?: { description?: string; unit?: string }): MetricsInstrument
}

const API = Symbol.for('opentelemetry.js.api.1')

interface Registered {
  readonly metrics?: { getMeter(name: string, version?: string): MetricsMeter }
}

const METHODS = {
  counter: 'createObservableCounter',
  sum: 'createObservableUpDownCounter',
  gauge: 'createObservableGauge',
} as const satisfies Record<MetricKind, keyof MetricsMeter>

/** The meter of the registered MeterProvider; `undefined` if none is registered. */
export function findGlobalMeter(): MetricsMeter | undefined {
  return (globalThis as { [API]?: Registered })[API]?.metrics?.getMeter('pino-ingest', VERSION)
}

/** @throws IngestError `CONFIG` for an object that is not a meter */
export function assertMeter(meter: MetricsMeter): MetricsMeter {
  if (Object.values(METHODS).every((method) => typeof (meter as Partial<MetricsMeter> | null)?.[method] === 'function'))
    return meter
  throw new IngestError(
    'CONFIG',
    `meter must be a Meter of OpenTelemetry, as metrics.getMeter('app') gives one; got ${formatValue(meter)}`,
  )
}

/** Labels in use, by meter. If two callbacks observed the same attributes, the later one would win, and a counter could decrease. */
const observed = new WeakMap<MetricsMeter, Set<string>>()

/**
 * @param state called at each collection
 * @returns a function that removes the callbacks
 * @throws IngestError `CONFIG` if these labels are already observed on this meter
 */
export function observe(
  meter: MetricsMeter,
  families: readonly MetricFamily[],
  state: () => MetricsState,
  labels: Readonly<Record<string, string>>,
): () => void {
  const inUse = observed.get(meter) ?? new Set<string>()
  const key = JSON.stringify(Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  if (inUse.has(key)) {
    throw new IngestError(
      'CONFIG',
      `another ingestMetrics() is observed on this meter with ${key === '[]' ? 'no labels' : `the labels ${key}`}, too: give each labels of its own`,
    )
  }
  const undos: (() => void)[] = []
  const undo = (): void => {
    for (const one of undos) one()
  }
  try {
    for (const { openTelemetry: name, kind, unit, help: description, samples } of families) {
      const instrument = meter[METHODS[kind]](name, { description, unit })
      const callback = (result: MetricsObservation): void => {
        for (const { labels: own, value } of samples(state()))
          result.observe(value, { ...labels, ...toAttributes(own) })
      }
      instrument.addCallback(callback)
      undos.push(() => instrument.removeCallback(callback))
    }
  } catch (error) {
    undo()
    throw error
  }
  observed.set(meter, inUse.add(key))
  return () => {
    inUse.delete(key)
    undo()
  }
}

function toAttributes(labels: Readonly<Partial<Record<LabelName, string>>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [LABELS[name as LabelName], value]))
}
