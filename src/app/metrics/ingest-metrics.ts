/** [main] Exports the transport's account to Prometheus, prom-client and OpenTelemetry. */
import type { AccountSnapshot } from '../../diagnostics/account.js'
import { systemClock } from '../../shared/clock.js'
import type { Clock } from '../../shared/clock.js'
import { checkArgument, describeType, isFunction, readOptions } from '../../shared/argument-checks.js'
import { IngestError } from '../../shared/errors.js'
import { checkNames } from '../../options/known-names.js'
import { formatName, formatValue } from '../../options/format-value.js'
import { FAMILIES, LABELS } from './metric-families.js'
import type { MetricsState } from './metric-families.js'
import { MetricsListener } from './metrics-listener.js'
import { assertMeter, findGlobalMeter, observe } from './open-telemetry-metrics.js'
import type { MetricsMeter } from './open-telemetry-metrics.js'
import { PROMETHEUS_CONTENT_TYPE, formatPrometheusText } from './prometheus-text.js'
import { findIngestStreams } from '../logger/logger-streams.js'

/** Options of `ingestMetrics()`. */
export interface IngestMetricsOptions {
  /** On every sample, and as attributes for OpenTelemetry. Default none. `kind`, `reason`, `code`, `le` and `quantile` are reserved. */
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** The used part of a `Registry` of prom-client. */
export interface MetricsRegistry {
  /** Adds a metric. */
  registerMetric(metric: never): void
  /** Removes the metric of this name. */
  removeSingleMetric(name: string): void
}

/** Metrics of the transport, from `ingestMetrics()`. */
export interface IngestMetrics {
  /** Content type of `prometheus()`: `text/plain; version=0.0.4; charset=utf-8`. */
  readonly contentType: string
  /** The latest account, summed over all transports; at most one second old while records are logged. `undefined` before the first. */
  readonly account: AccountSnapshot | undefined
  /** The metrics as text in Prometheus' format 0.0.4, with a final line feed. Never throws. */
  prometheus(): string
  /**
   * Adds the metrics to a registry of prom-client, which then has them beside the application's own; again after its `clear()`. Does
   * nothing after `close()`. prom-client throws an error if the registry has them already.
   *
   * @throws IngestError `CONFIG` for an object that is not a registry.
   */
  register(registry: MetricsRegistry): void
  /**
   * Creates observable instruments, once for each meter.
   *
   * @param meter of `@opentelemetry/api` 1.3 or later; default: the meter of the registered global MeterProvider
   * @returns whether there was one: `false` before the SDK has started, without an SDK, and after `close()`
   * @throws IngestError `CONFIG` for an object that is not a meter, and if another `ingestMetrics()` uses it with the same labels.
   */
  openTelemetry(meter?: MetricsMeter): boolean
  /** Stops listening, and removes the metrics from registries and the callbacks from instruments. The last values can still be read. */
  close(): void
}

const OPTIONS = ['labels'] as const

/**
 * Metrics of the transport behind a logger, from its events `ingest:stats` and `ingest:problem`. They start at zero, and sum
 * several transports. Changes in the last second before the process ends are not reported.
 *
 * @param logger a pino logger or one of its children, what `pino.transport()` returns, or an `ingestStream()`
 * @throws IngestError `CONFIG` if there is no transport behind it, for an invalid label and for an unknown option.
 */
export function ingestMetrics(logger: object, options: IngestMetricsOptions = {}): IngestMetrics {
  return ingestMetricsWithClock(systemClock, logger, options)
}

/** @param clock its `wallNow` dates the reports */
export function ingestMetricsWithClock(clock: Clock, logger: object, options: IngestMetricsOptions): IngestMetrics {
  const given = readOptions('ingestMetrics()', options)
  checkNames('ingestMetrics()', given, OPTIONS)
  const labels = parseLabels(given.labels)
  const listener = new MetricsListener(findTransportStreams(logger), clock)
  const undos = new Map<object, () => void>()
  let isClosed = false
  return {
    contentType: PROMETHEUS_CONTENT_TYPE,
    get account() {
      return listener.account
    },
    prometheus: () => formatPrometheusText(FAMILIES, listener.state, labels),
    register: (registry) => {
      const isRegistry = isFunction((registry as Partial<MetricsRegistry> | null | undefined)?.registerMetric)
      checkArgument('the registry of register()', 'a Registry of prom-client', isRegistry, registry)
      if (isClosed) return
      undos.set(
        registry,
        register(registry, () => listener.state, labels),
      )
    },
    openTelemetry: (ofApp) => {
      const meter = ofApp === undefined ? findGlobalMeter() : assertMeter(ofApp)
      if (meter === undefined || isClosed) return false
      if (!undos.has(meter))
        undos.set(
          meter,
          observe(meter, FAMILIES, () => listener.state, labels),
        )
      return true
    },
    close: () => {
      isClosed = true
      listener.close()
      for (const undo of undos.values()) undo()
      undos.clear()
    },
  }
}

/** @returns a function that removes the metrics */
function register(
  registry: MetricsRegistry,
  state: () => MetricsState,
  labels: Readonly<Record<string, string>>,
): () => void {
  for (const { prometheus, kind, help, samples } of FAMILIES) {
    const metric = {
      name: prometheus, // prom-client changes it for OpenMetrics
      help,
      type: kind === 'counter' ? kind : 'gauge',
      aggregator: kind === 'gauge' ? 'max' : 'sum', // over the workers of a cluster
      reset() {},
      get: () => ({
        name: metric.name,
        help,
        type: metric.type,
        aggregator: metric.aggregator,
        values: samples(state()).map(({ labels: own, value }) => ({ labels: { ...labels, ...own }, value })),
      }),
    }
    registry.registerMetric(metric as never)
  }
  return () => FAMILIES.forEach(({ prometheus }) => registry.removeSingleMetric(prometheus))
}

function findTransportStreams(logger: unknown): readonly object[] {
  if (typeof logger !== 'object' || logger === null) {
    throw new IngestError(
      'CONFIG',
      `ingestMetrics() takes a pino logger, a transport or an ingestStream(); got ${describeType(logger)}`,
    )
  }
  const streams = findIngestStreams(logger)
  if (streams.length > 0) return streams
  throw new IngestError(
    'CONFIG',
    `ingestMetrics() found no transport behind ${describeType(logger)}; give the logger that was made with ` +
      "transport: { target: 'pino-ingest' } or with ingestStream()",
  )
}

/** Per the Prometheus data model; two leading underscores are reserved for Prometheus. */
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/
/** This package's labels, and those of Prometheus' histograms and summaries. */
const RESERVED: ReadonlySet<string> = new Set([...Object.keys(LABELS), 'le', 'quantile'])

/** @returns a copy @throws IngestError `CONFIG` for a name that is illegal or reserved, or a value that is not a string */
function parseLabels(labels: unknown): Readonly<Record<string, string>> {
  if (labels === undefined) return {}
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels)) {
    throw new IngestError(
      'CONFIG',
      `labels must be an object of texts, as { app: 'checkout' }; got ${formatValue(labels)}`,
    )
  }
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]: [string, unknown]) => [
      parseLabelName(name),
      parseLabelValue(name, value),
    ]),
  )
}

function parseLabelName(name: string): string {
  if (!LABEL_NAME.test(name)) {
    throw new IngestError(
      'CONFIG',
      `a label's name must be letters, digits and _, not begin with a digit or __; got ${formatValue(name)}`,
    )
  }
  if (RESERVED.has(name))
    throw new IngestError('CONFIG', `the label ${name} is reserved (${[...RESERVED].join(', ')}); take another name`)
  return name
}

function parseLabelValue(name: string, value: unknown): string {
  if (typeof value !== 'string')
    throw new IngestError('CONFIG', `the label ${formatName(name)} must be text; got ${formatValue(value)}`)
  return value
}
