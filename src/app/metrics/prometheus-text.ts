/**
 * Metrics as text, format version 0.0.4. Pure.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
import type { MetricFamily, MetricsState } from './metric-families.js'

export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** @param labels the app's own, for every sample; valid names, none of them ours */
export function formatPrometheusText(
  families: readonly MetricFamily[],
  state: MetricsState,
  labels: Readonly<Record<string, string>>,
): string {
  return families.map((family) => formatFamily(family, state, labels)).join('')
}

function formatFamily(
  { prometheus: name, kind, help, samples }: MetricFamily,
  state: MetricsState,
  labels: Readonly<Record<string, string>>,
): string {
  const lines = samples(state).map(
    ({ labels: own, value }) => `${name}${formatLabels({ ...labels, ...own })} ${formatNumber(value)}\n`,
  )
  const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${kind === 'counter' ? 'counter' : 'gauge'}\n`
  return lines.length === 0 ? '' : head + lines.join('')
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  const names = Object.keys(labels).toSorted()
  return names.length === 0 ? '' : `{${names.map((name) => `${name}="${escapeValue(labels[name] ?? '')}"`).join(',')}}`
}

/** Escapes backslash, double quote and line feed. */
export function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** A quote needs none here. */
export function escapeHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

/** As Go's ParseFloat reads it. JavaScript has other names for infinity. */
export function formatNumber(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}
