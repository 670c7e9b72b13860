/** The dashboard and the alert rules use metrics and labels that are exported, and the YAML of the pages can be parsed. */
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { FAMILIES } from '../../src/app/metrics/metric-families.js'
import { FORWARD_FAMILIES } from '../../src/forward/forward-metrics.js'
import { DOCUMENTS, readText } from '../markdown.js'

interface Target {
  readonly expr: string
  readonly refId: string
}

interface Panel {
  readonly type: string
  readonly datasource?: { readonly uid: string }
  readonly targets?: readonly (Target & { readonly datasource: { readonly uid: string } })[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Record<string, string>
  readonly annotations: Record<string, string>
}

const ALERTS = 'docs/prometheus-alerts.yml'
const DASHBOARD = 'docs/grafana-dashboard.json'
const PROBLEMS = 'pino_ingest_problems_total'

const dashboard = JSON.parse(readText(DASHBOARD)) as Dashboard
const rules = (parse(readText(ALERTS)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const metricsIn = (text: string): readonly string[] => text.match(/\bpino_ingest_[a-z_]+/g) ?? []
const EXPORTED = [
  ...FAMILIES.map(({ prometheus }) => prometheus),
  ...FORWARD_FAMILIES.map(({ prometheus }) => prometheus),
]

test.each([
  ['the dashboard', readText(DASHBOARD)],
  ['the alert rules', readText(ALERTS)],
  ['the page about operating a fleet', readText('docs/fleet-operations.md')],
])('each metric of %s is exported', (_, text) => {
  const named = new Set(metricsIn(text))
  expect(named.size).toBeGreaterThan(3)
  expect([...named].filter((name) => !EXPORTED.includes(name))).toEqual([])
})

test('the dashboard shows every metric', () => {
  const shown = new Set(expressions.flatMap(metricsIn))
  expect(EXPORTED.filter((name) => !shown.has(name))).toEqual([])
})

test('counters are used through rate or increase, gauges are not', () => {
  for (const expr of [...expressions, ...rules.map((rule) => rule.expr)]) {
    const inRange = [...expr.matchAll(/(?:rate|increase)\((pino_ingest_[a-z_]+)/g)].map(([, name]) => name)
    for (const name of metricsIn(expr).filter((one) => one !== PROBLEMS))
      expect([expr, inRange.includes(name)]).toEqual([expr, name.endsWith('_total')])
  }
})

test('alerts about problems fire for one that exists from the start: its series begins at 1, so nothing increases', () => {
  const alerts = rules.filter(({ expr }) => expr.includes(PROBLEMS))
  expect(alerts.length).toBeGreaterThan(1)
  for (const { expr } of alerts) expect(expr.replaceAll(/increase\([^)]*\)/g, '')).toContain(PROBLEMS)
})

test('an alert fires if no forwarder reports', () => {
  expect(rules.map(({ expr }) => expr).join('\n')).toContain('absent(pino_ingest_forward_ready)')
})

describe('the dashboard', () => {
  test('no data source is fixed: the reader selects one', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toContain('datasource')
    const uids = [...readText(DASHBOARD).matchAll(/"datasource": \{[^}]*"uid": "([^"]*)"/g)].map(([, uid]) => uid)
    expect(uids.length).toBeGreaterThan(dashboard.panels.length)
    expect([...new Set(uids)]).toEqual(['${datasource}'])
    for (const { type, targets = [] } of dashboard.panels) expect(targets.length > 0).toBe(type !== 'row')
  })

  test('each variable that is used is defined', () => {
    const defined = dashboard.templating.list.map(({ name }) => name)
    const used = expressions.flatMap((expr) => [...expr.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name))
    expect([...new Set(used)].filter((name) => !name.startsWith('__') && !defined.includes(name))).toEqual([])
  })
})

test('each alert has a name of its own, a severity, a summary, and the section with its cure', () => {
  const names = rules.map(({ alert }) => alert)
  expect(new Set(names).size).toBe(names.length)
  for (const { labels, annotations } of rules) {
    expect(['critical', 'warning']).toContain(labels['severity'])
    expect(Object.keys(annotations)).toEqual(['summary', 'description'])
    expect(annotations['description']).toMatch(/docs\/[\w-]+\.md#[\w-]+/)
  }
})

test.each(DOCUMENTS.filter((document) => /^ *```ya?ml$/m.test(readText(document))))(
  'the YAML of %s can be parsed',
  (document) => {
    const blocks = [...readText(document).matchAll(/^( *)```ya?ml\n([^]*?)^ *```$/gm)]
    for (const [, indent = '', code = ''] of blocks) {
      const text = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      for (const one of parseAllDocuments(text)) {
        expect('errors' in one ? one.errors : []).toEqual([])
        const manifest = ('toJS' in one ? one.toJS() : undefined) as { kind?: string; apiVersion?: string }
        if (manifest.kind !== undefined) expect(manifest.apiVersion).toMatch(/^(?:apps\/)?v1$/)
      }
    }
  },
)
