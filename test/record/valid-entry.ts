/** A strict validator of one entry's JSON, written only from the service's interface (Log entry). */
import { parseNodes } from './json-nodes.js'
import type { JsonNode } from './json-nodes.js'

type Rule = (node: JsonNode, path: string) => string[]

/** 32 levels of the record plus those of the entry: itself, `metadata`, `error`, the `data` of a breadcrumb. */
const MAX_ENTRY_DEPTH = 36

const text: Rule = (node, path) => (node.kind === 'text' ? [] : [`${path}: not a string but ${node.kind}`])
const number: Rule = (node, path) =>
  node.kind !== 'number'
    ? [`${path}: not a number but ${node.kind}`]
    : Number.isFinite(Number(node.literal))
      ? []
      : [`${path}: ${node.literal} is not finite`]
const integer: Rule = (node, path) =>
  node.kind === 'number' && Number.isInteger(Number(node.literal)) ? [] : [`${path}: not an integer`]
const boolean: Rule = (node, path) => (node.kind === 'word' && node.value !== null ? [] : [`${path}: not a boolean`])
const freeObject: Rule = (node, path) => {
  if (node.kind !== 'object') return [`${path}: not an object but ${node.kind}`]
  const seen = new Set<string>()
  return node.members.filter(([key]) => seen.size === seen.add(key).size).map(([key]) => `${path}.${key}: twice`)
}
const instant: Rule = (node, path) =>
  node.kind === 'text' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(node.value) &&
  !Number.isNaN(Date.parse(node.value))
    ? []
    : [`${path}: not ISO 8601 UTC with milliseconds`]
const level: Rule = (node, path) =>
  node.kind === 'text' && ['debug', 'info', 'warn', 'error', 'fatal'].includes(node.value) ? [] : [`${path}: no level`]

function listOf(rule: Rule): Rule {
  return (node, path) =>
    node.kind === 'array'
      ? node.items.flatMap((item, index) => rule(item, `${path}[${index}]`))
      : [`${path}: not an array`]
}

/** Rejects other keys and duplicate keys. */
function shape(fields: Readonly<Record<string, Rule>>, required: readonly string[] = []): Rule {
  return (node, path) => {
    if (node.kind !== 'object') return [`${path}: not an object but ${node.kind}`]
    const keys = node.members.map(([key]) => key)
    return [
      ...required.filter((key) => !keys.includes(key)).map((key) => `${path}.${key}: missing`),
      ...keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `${path}.${key}: twice`),
      ...node.members.flatMap(([key, value]) =>
        Object.hasOwn(fields, key) ? (fields[key] as Rule)(value, `${path}.${key}`) : [`${path}.${key}: unknown field`],
      ),
    ]
  }
}

const entryRule = shape(
  {
    level,
    message: text,
    timestamp: instant,
    service: text,
    environment: text,
    version: text,
    user_id: text,
    user: shape({ id: text, email: text, name: text }),
    metadata: freeObject,
    tags: listOf(text),
    error: shape({ type: text, message: text, stack: text }),
    request: shape({
      method: text,
      url: text,
      path: text,
      status_code: integer,
      duration_ms: number,
      ip: text,
      user_agent: text,
    }),
    perf: shape({ duration_ms: number, memory_mb: number, db_queries: number, cache_hits: number }),
    trace: shape({ trace_id: text, span_id: text, parent_span_id: text }),
    deploy: shape({ commit: text, branch: text, deployed_by: text }),
    breadcrumbs: listOf(
      shape({ type: text, category: text, message: text, level: text, timestamp: instant, data: freeObject }),
    ),
    fingerprint: text,
    action: text,
    session_id: text,
    release_id: text,
    request_id: text,
    source: text,
    notify: boolean,
    notify_channels: listOf(text),
  },
  ['level', 'message', 'timestamp'],
)

/** The problems of an entry's JSON; empty if it is valid. */
export function faults(json: string, maxEntryBytes: number): string[] {
  if (json.includes('\n') || json.includes('\r')) return ['more than one line']
  if (Buffer.byteLength(json) > maxEntryBytes) return [`${Buffer.byteLength(json)} bytes, more than ${maxEntryBytes}`]
  const root = parseNodes(json)
  if (root === undefined) return [`not JSON: ${json.slice(0, 200)}`]
  return [...entryRule(root, 'entry'), ...everywhere(root)]
}

/** The rules for every key and value at any depth. */
function everywhere(root: JsonNode): string[] {
  const found: string[] = []
  const check = (value: string): void => {
    if (value.includes('\0')) found.push(`NUL in ${JSON.stringify(value.slice(0, 50))}`)
    if (!value.isWellFormed()) found.push(`a lone surrogate in ${JSON.stringify(value.slice(0, 50))}`)
  }
  const open: [JsonNode, number][] = [[root, 1]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, depth] = next
    if (node.kind === 'text') check(node.value)
    // What the service's parser reads as infinite it cannot store, nor write again.
    else if (node.kind === 'number' && !Number.isFinite(Number(node.literal))) {
      found.push(`${node.literal} is not finite`)
    } else if (node.kind === 'object' || node.kind === 'array') {
      if (depth > MAX_ENTRY_DEPTH) return [...found, `deeper than ${MAX_ENTRY_DEPTH}`]
      if (node.kind === 'array') for (const item of node.items) open.push([item, depth + 1])
      else {
        // One more key for the transport's own note.
        if (new Set(node.members.map(([key]) => key)).size > 1_100) found.push(`${node.members.length} keys`)
        for (const [key, value] of node.members) {
          check(key)
          open.push([value, depth + 1])
        }
      }
    }
  }
  return found
}
