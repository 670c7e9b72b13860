/**
 * Metrics as text, format version 0.0.4. Pure.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
import type { MetricFamily, MetricsState } from './metrics-families.js'

export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** @param labels the app's own, for every sample; valid names, none of them ours */
export function prometheusText(families: readonly MetricFamily[], state: MetricsState, labels: Readonly<Record<string, string>>): string {
  return families.map((family) => familyText(family, state, labels)).join('')
}

function familyText({ prometheus: name, kind, help, samples }: MetricFamily, state: MetricsState, labels: Readonly<Record<string, string>>): string {
  const lines = samples(state).map(({ labels: own, value }) => `${name}${labelsText({ ...labels, ...own })} ${numberText(value)}\n`)
  const head = `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${kind === 'counter' ? 'counter' : 'gauge'}\n`
  return lines.length === 0 ? '' : head + lines.join('')
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const names = Object.keys(labels).toSorted()
  return names.length === 0 ? '' : `{${names.map((name) => `${name}="${escapedValue(labels[name] ?? '')}"`).join(',')}}`
}

/** Backslash, double quote and line feed; all else stands as it is. */
export function escapedValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** A quote needs none here. */
export function escapedHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

/** As Go's ParseFloat reads it; of what is not finite JavaScript has other names. */
export function numberText(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}
