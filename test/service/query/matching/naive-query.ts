/** A simple evaluator of queries: the reference for the compiler. */
import type { Json, LogEntry } from '../../../../src/protocol/log-entry.js'
import type { RequestLog } from '../../../../src/protocol/resources.js'
import { parseQuery } from '../../../../src/service/query/language/index.js'
import type { QueryNode, QueryValue } from '../../../../src/service/query/language/index.js'
import { findRoute } from '../../../../src/service/store/failed-route.js'

const SEVERITIES = ['debug', 'info', 'warn', 'error', 'fatal']
const SUBSTRING = ['message', 'error', 'error.message', 'error.stack', 'breadcrumbs']

/** Fields that a search in all texts does not cover. It does not cover field names outside of metadata and breadcrumb data either. */
const NOT_SEARCHED = {
  level: undefined,
  timestamp: undefined,
  perf: undefined,
  notify: undefined,
  notify_channels: undefined,
}

interface Naive {
  readonly texts: readonly string[]
  readonly read: (field: string) => Json | undefined
}

export function matchesEntry(q: string, entry: LogEntry): boolean {
  const breadcrumbs = entry.breadcrumbs?.map(({ category, message, data }) => [category, message, data]) as Json
  const request = entry.request && { ...entry.request, duration_ms: undefined }
  const searched = { ...entry, breadcrumbs, request, ...NOT_SEARCHED }
  const texts = collectTexts(JSON.parse(JSON.stringify(searched)) as Json)
  return evaluate(parse(q), { texts, read: (field) => readEntryField(entry, field) })
}

export function matchesRequestLog(q: string, request: RequestLog): boolean {
  const { method, path, route, request_id, service, environment, host, status_code, duration_ms, timestamp } = request
  const texts = [method, path, route, request_id, service, environment, host, String(status_code)].filter(
    (text) => text !== undefined,
  )
  const fields: Record<string, Json | undefined> = { method, path, service, environment, host, request_id, timestamp }
  const others = { route: route ?? path, status: status_code, duration: duration_ms }
  return evaluate(parse(q), { texts, read: (field) => ({ ...fields, ...others })[ALIASES[field] ?? field] })
}

function parse(q: string): QueryNode {
  const { query, problem } = parseQuery(q)
  if (query === undefined) throw new Error(`${q}: ${problem.message}`)
  return query
}

/** Collects texts; keys only in `metadata` and breadcrumb data. */
function collectTexts(value: Json | undefined, depth = 0, withKeys = false): string[] {
  if (value === undefined) return []
  if (value === null || typeof value !== 'object') return depth === 0 ? [] : [String(value)]
  if (Array.isArray(value)) return value.flatMap((item) => collectTexts(item, depth + 1, depth === 2 || withKeys))
  return Object.entries(value).flatMap(([key, item]) => [
    ...(withKeys ? [key] : []),
    ...collectTexts(item, depth + 1, withKeys || (depth === 0 && key === 'metadata')),
  ])
}

/** Aliases of fields. */
const ALIASES: Readonly<Record<string, string>> = {
  msg: 'message',
  status_code: 'status',
  duration_ms: 'duration',
  'request.status_code': 'status',
  'request.duration_ms': 'duration',
  'request.path': 'path',
  'request.method': 'method',
  'request.url': 'url',
  'request.ip': 'ip',
  'request.user_agent': 'user_agent',
  trace: 'trace_id',
  'trace.trace_id': 'trace_id',
  span: 'span_id',
  'trace.span_id': 'span_id',
  'trace.parent_span_id': 'parent_span_id',
  request: 'request_id',
  session: 'session_id',
  release: 'release_id',
  time: 'timestamp',
  tags: 'tag',
  env: 'environment',
  stack: 'error.stack',
  email: 'user.email',
  breadcrumb: 'breadcrumbs',
  commit: 'deploy.commit',
  branch: 'deploy.branch',
}

/** Paths of fields that are not stored under their own name. */
const PLACES: Readonly<Record<string, string>> = {
  status: 'request.status_code',
  duration: 'request.duration_ms',
  path: 'request.path',
  method: 'request.method',
  url: 'request.url',
  ip: 'request.ip',
  user_agent: 'request.user_agent',
  trace_id: 'trace.trace_id',
  span_id: 'trace.span_id',
  parent_span_id: 'trace.parent_span_id',
  tag: 'tags',
}

/** Members of an entry that are fields with the same name. */
const MEMBERS = [
  ...['level', 'message', 'timestamp', 'service', 'environment', 'version', 'user_id', 'action', 'session_id'],
  ...['release_id', 'request_id', 'source', 'notify', 'notify_channels', 'error.type', 'error.message', 'error.stack'],
  ...['user.id', 'user.email', 'user.name', 'perf.duration_ms', 'perf.memory_mb', 'perf.db_queries'],
  ...['perf.cache_hits', 'deploy.commit', 'deploy.branch', 'deploy.deployed_by'],
]

export function readEntryField(entry: LogEntry, typed: string): Json | undefined {
  const { user, error } = entry
  const field = ALIASES[typed] ?? typed
  const json = (value: unknown): Json | undefined => value as Json | undefined
  if (field === 'user')
    return json([entry.user_id, user?.id, user?.email, user?.name].filter((one) => one !== undefined))
  if (field === 'route') return findRoute(entry)
  if (field === 'error') return error && json([error.type, error.message].filter((one) => one !== undefined))
  if (field === 'breadcrumbs')
    return json(entry.breadcrumbs?.map(({ category, message, data }) => ({ category, message, data })))
  const place = PLACES[field] ?? (MEMBERS.includes(field) ? field : undefined)
  if (place === undefined) return readMember(entry.metadata, field.replace(/^metadata\./, '').split('.'))
  return place
    .split('.')
    .reduce<Json | undefined>((value, name) => (value as Record<string, Json> | undefined)?.[name], json(entry))
}

/** Names with dots have precedence: `a.b` before `b` in `a`. */
function readMember(value: Json | undefined, names: readonly string[]): Json | undefined {
  if (names.length === 0) return value
  if (Array.isArray(value)) {
    const found = value.map((item) => readMember(item, names)).filter((item) => item !== undefined)
    return found.length === 0 ? undefined : found
  }
  if (typeof value !== 'object' || value === null) return undefined
  const whole = names.join('.')
  if (Object.hasOwn(value, whole)) return value[whole]
  for (let count = 1; count < names.length; count++) {
    const name = names.slice(0, count).join('.')
    const found = Object.hasOwn(value, name) ? readMember(value[name], names.slice(count)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function evaluate(node: QueryNode, record: Naive): boolean {
  switch (node.kind) {
    case 'all':
      return true
    case 'not':
      return !evaluate(node.node, record)
    case 'and':
      return node.nodes.every((one) => evaluate(one, record))
    case 'or':
      return node.nodes.some((one) => evaluate(one, record))
    case 'term': {
      const { values } = node
      const field = node.field === null ? null : (ALIASES[node.field] ?? node.field)
      if (field === null) return values.some((value) => searches(value, record.texts))
      const found = flatten(record.read(field))
      return values.some((value) => found.some((one) => hasValue(value, field, one)))
    }
  }
}

type Scalar = string | number | boolean | null

function flatten(value: Json | undefined): Scalar[] {
  if (value === undefined) return []
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap((one) => flatten(one)) : [value]
}

function escape(text: string): string {
  return text.toLowerCase().replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function toRegExp(value: QueryValue & { kind: 'pattern' | 'wildcard' }, isWhole: boolean): RegExp {
  if (value.kind === 'pattern') return new RegExp(value.source, value.ignoresCase ? 'iu' : 'u')
  const source = value.parts.map(escape).join('[^]*')
  return new RegExp(isWhole ? `^${source}$` : source, 'u')
}

function searches(value: QueryValue, texts: readonly string[]): boolean {
  if (value.kind === 'present') return true
  return texts.some((text) => {
    if (value.kind === 'exact' && /^\d+$/.test(value.text)) return text.split(/[^\p{L}\p{N}]/u).includes(value.text)
    if (value.kind === 'exact') return text.toLowerCase().includes(value.text.toLowerCase())
    if (value.kind === 'wildcard') return toRegExp(value, false).test(text.toLowerCase())
    return value.kind === 'pattern' && toRegExp(value, false).test(text)
  })
}

function hasValue(value: QueryValue, field: string, one: Scalar): boolean {
  const text = String(one)
  switch (value.kind) {
    case 'present':
      return true
    case 'pattern':
      return toRegExp(value, false).test(text)
    case 'wildcard':
      return toRegExp(value, !SUBSTRING.includes(field)).test(text.toLowerCase())
    case 'exact':
      if (SUBSTRING.includes(field)) return text.toLowerCase().includes(value.text.toLowerCase())
      if (field === 'timestamp') return isWithin(text, value.text)
      return typeof one === 'number' && value.text !== ''
        ? one === Number(value.text)
        : text.toLowerCase() === value.text.toLowerCase()
    case 'compare':
      return compares(field, one, value.operator, value.operand)
    case 'range':
      return (
        (value.from === null || compares(field, one, '>=', value.from)) &&
        (value.to === null || compares(field, one, '<=', value.to))
      )
  }
}

const NUMBER = /^[+-]?(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?$/i
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/
const toMs = (time: string): number => Date.parse(/T/.test(time) && !/Z|[+-]\d\d:\d\d$/.test(time) ? `${time}Z` : time)

function isWithin(time: string, asked: string): boolean {
  const unit =
    asked.length === 10 ? 86_400_000 : /T\d\d:\d\d(Z|$)/.test(asked) ? 60_000 : asked.includes('.') ? 1 : 1000
  return toMs(time) >= toMs(asked) && toMs(time) < toMs(asked) + unit
}

function compares(field: string, one: Scalar, operator: string, operand: string): boolean {
  if (field === 'level') return orders(SEVERITIES.indexOf(String(one)), operator, SEVERITIES.indexOf(operand))
  if (field === 'version')
    return VERSION.test(String(one)) && orders(compareVersions(String(one), operand), operator, 0)
  if (NUMBER.test(operand)) return NUMBER.test(String(one)) && orders(Number(one), operator, Number(operand))
  if (!TIME.test(String(one))) return false
  const isDayEnd = operand.length === 10 && (operator === '>' || operator === '<=')
  return orders(toMs(String(one)), operator, toMs(operand) + (isDayEnd ? 86_399_999 : 0))
}

const VERSION = /^v?\d+(\.\d+)*([-+]|$)/

/** By up to four numbers; a pre-release before its release. */
function compareVersions(one: string, other: string): number {
  const parseVersion = (version: string) => {
    const [, numbers = '', before] = /^v?([\d.]+)(?:-([^+]*))?/.exec(version) ?? []
    return { numbers: [...numbers.split('.'), '0', '0', '0'].slice(0, 4).map((part) => BigInt(part)), before }
  }
  const a = parseVersion(one)
  const b = parseVersion(other)
  const at = a.numbers.findIndex((number, index) => number !== b.numbers[index])
  if (at !== -1) return (a.numbers[at] as bigint) > (b.numbers[at] as bigint) ? 1 : -1
  if (a.before === undefined || b.before === undefined)
    return Number(a.before === undefined) - Number(b.before === undefined)
  return new Intl.Collator('en', { numeric: true }).compare(a.before, b.before)
}

function orders(a: number, operator: string, b: number): boolean {
  if (operator.startsWith('>')) return a > b || (operator === '>=' && a === b)
  return a < b || (operator === '<=' && a === b)
}
