/** The table in docs/metrics.md is generated from the metrics. `npm run docs` rewrites it. */
import { expect, test } from 'vitest'
import { FAMILIES, LABELS } from '../../../src/app/metrics/metric-families.js'
import type { MetricFamily, MetricKind } from '../../../src/app/metrics/metric-families.js'
import { regionOf, writeRegion } from '../../markdown.js'

const PAGE = 'docs/metrics.md'

const KINDS: Record<MetricKind, string> = { counter: 'counter', sum: 'gauge; up-down counter', gauge: 'gauge' }

function row({ prometheus, openTelemetry, kind, labels, unit, help }: MetricFamily): string {
  const names = labels.map((label) => `\`${label}\` (\`${LABELS[label]}\`)`).join(', ')
  return `| \`${prometheus}\` | \`${openTelemetry}\`, \`${unit}\` | ${KINDS[kind]} | ${names} | ${help} |`
}

test('the table of metrics matches the code', () => {
  const table = [
    '| Prometheus | OpenTelemetry, unit | type | labels (attributes) | meaning |',
    '|---|---|---|---|---|',
    ...FAMILIES.map(row),
  ].join('\n')
  if (process.env['UPDATE_DOCS'] === '1') writeRegion(PAGE, 'metrics', table)
  expect(regionOf(PAGE, 'metrics')).toBe(table)
})
