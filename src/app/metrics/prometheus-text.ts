/**
 * Metrics as text, format version 0.0.4. Pure.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
import type { PrometheusFamily } from './metric-families.js'

export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** @param labels the application's labels, for every sample; valid names that this package does not use */
export function formatPrometheusText<State>(
  families: readonly PrometheusFamily<State>[],
  state: State,
  labels: Readonly<Record<string, string>>,
): string {
  return families.map((family) => formatFamily(family, state, labels)).join('')
}

function formatFamily<State>(
  { prometheus: name, kind, help, samples }: PrometheusFamily<State>,
  state: State,
  labels: Readonly<Record<string, string>>,
): string {
  const lines = samples(state).flatMap(({ labels: own, value }) =>
    value === undefined ? [] : `${name}${formatLabels({ ...labels, ...own })} ${value}\n`,
  )
  const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${kind === 'counter' ? 'counter' : 'gauge'}\n`
  return lines.length === 0 ? '' : head + lines.join('')
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  const names = Object.keys(labels).toSorted()
  return names.length === 0 ? '' : `{${names.map((name) => `${name}="${escapeValue(labels[name] ?? '')}"`).join(',')}}`
}

/** Escapes backslash, double quote and line feed. */
function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Escapes backslash and line feed; quotes are allowed in help text. */
function escapeHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
