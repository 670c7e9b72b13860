/**
 * No value is lost: every leaf of a record must be at the one place of the entry that the field table names for it. The table
 * below is written independently and shares nothing with the mapper.
 *
 * All exceptions, that is, the data of a record that an entry may lack or change:
 *  1. level and time: another representation (a name, ISO 8601 UTC with milliseconds); a custom label is in the metadata
 *  2. headers other than user-agent, traceparent and an x-request-id without another id, and bodies: not sent; traceparent itself
 *     becomes two ids; Datadog's ids become hexadecimal
 *  3. containers deeper than 32 levels: text replaces them
 *  4. keys beyond 1,000 in one object
 *  5. duplicate keys: the last value wins, except `level` and `time`, where the first does and the last has another key
 *  6. NUL, which is removed (counted in `metadata.pino_ingest.removed_nul`), and lone surrogates, which become U+FFFD
 *  7. the stacks of causes and aggregated errors: they are part of `error.stack`; a `name` used as the type is a type
 *  8. the digits of a fraction that a double cannot hold; a number out of range of a double may become text
 *  9. an entry above its byte limit, which is marked in `metadata.pino_ingest`
 * 10. an object whose members all became fields
 * 11. headers that are always removed, anywhere; counted in `metadata.pino_ingest.removed_headers`
 * 12. the text after `Bearer`, which becomes `[removed]`
 * 13. an id under two of its names with the same value: it occurs once
 * 14. requests and responses of an HTTP client in an error; counted in `metadata.pino_ingest.omitted_http_members`
 * 15. the constants of DOMException, and its type if it has a name
 * 16. the messages of causes that pino appends to an error's own message, if the stack lists the causes
 * 17. an empty message of an error, or next to one
 * 18. the types `Error`, `Object` and '' of an error that has a name, or another type at the start of its stack; the type ''
 * 19. the values of a statement in an error: arguments, literals, parameters, documents
 * 20. an HTTP method is in upper case
 */
import { METHODS } from 'node:http'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { parseNodes } from './json-nodes.js'
import type { JsonNode, NumberNode, ObjectNode, TextNode, WordNode } from './json-nodes.js'

const MAX_DEPTH = 32
const MAX_KEYS = 1_000
const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal']
const ALWAYS_REMOVED = /^(?:authorization|cookie|set-cookie|x-api-key)$/i
/** Members of an error that belong to an exchange, of those that the generators know. */
const EXCHANGE = ['headers', 'rawHeaders', 'body', 'data', 'config', 'options', 'request', 'response', 'error', 'cause']
const DOM_CONSTANTS = Object.entries(DOMException)
const HEADERS: readonly (string | number)[] = ['headers', 'rawHeaders']
const UNSENT = ['headers', 'header', 'rawHeaders', 'trailers', 'body', 'rawBody', 'payload']
const OTHER_REQUEST_IDS = ['req_id', 'x-request-id', 'correlationId', 'correlation_id', 'x-correlation-id']

type Step = string | number
type Leaf = TextNode | NumberNode | WordNode | { kind: 'empty-object' | 'empty-list' | 'cut' }
type Tree = Leaf | Branch | List
interface Branch {
  kind: 'branch'
  from: string
  members: Map<string, Tree>
  isWide: boolean
}
interface List {
  kind: 'list'
  from: string
  items: Tree[]
}

interface Expected {
  /** The path in the record. */
  from: string
  /** The required path in the entry. */
  to: readonly Step[]
  holds: (value: unknown) => boolean
  /** Exception 4: wide objects are checked only by number. */
  isWide: boolean
}

/** The problems: leaves of `raw` that are missing at their place in `entry`, and extra metadata. */
export function missingLeaves(raw: string, entry: LogEntry, options: MappingOptions): string[] {
  const line = raw.replace(/\r?\n?$/, '')
  const root = parseNodes(line)
  const note = own(entry.metadata, 'pino_ingest')
  if (own(note, 'shortened_from_bytes') !== undefined) {
    return Buffer.byteLength(line) * 3 > options.maxEntryBytes / 2 ? [] : ['shortened without need']
  }
  const removed = own(note, 'removed_headers')
  // Of an incomplete record only the members before the cut are sent.
  if (own(note, 'cut_from_chars') !== undefined)
    return root?.kind === 'object' || entry.message === clean(line) ? ['cut without need'] : []
  if (root?.kind !== 'object') {
    // In a text only the value is removed.
    const isWhole =
      typeof removed === 'number'
        ? entry.message.includes('[removed]') && /authorization|cookie|api-key|bearer/i.test(line)
        : entry.message === clean(line)
    return isWhole ? [] : ['the line is not the message']
  }
  const record = toTree(root)
  if (record.kind !== 'branch')
    return entry.metadata === undefined || surplus(entry, [], options).length === 0 ? [] : ['{} has leaves']
  const plan = new Plan(record, options, entry)
  plan.run()
  // An object that contained only headers may be empty or missing.
  const mayBeGone = (one: Expected): boolean => typeof removed === 'number' && one.holds({})
  const isOmitted = omittedFrom(entry, plan.expected)
  const missing = plan.expected.filter(
    (one) => !isThere(entry, one.to, one.holds) && !mayBeGone(one) && !isOmitted(one),
  )
  const wide = missing.filter((one) => one.isWide)
  const found = missing
    .filter((one) => !one.isWide)
    .map(
      (one) =>
        `${one.from} is not at ${one.to.join('.')}, where there is ${JSON.stringify(at(entry, one.to))?.slice(0, 100)}`,
    )
  const cut = own(note, 'cut_keys')
  if (wide.length > 0 && typeof cut !== 'number')
    found.push(`${wide.length} leaves of wide objects are missing without a note`)
  return [
    ...found,
    ...plan.problems,
    ...(plan.hasWide
      ? []
      : surplus(
          entry,
          plan.expected.filter((one) => !isOmitted(one) || isThere(entry, one.to, one.holds)),
          options,
        )),
  ]
}

/**
 * Exception 14: such a member is removed with its content, and so is an object with headers; in a list a text
 * replaces it.
 */
function omittedFrom(entry: LogEntry, expected: readonly Expected[]): (one: Expected) => boolean {
  if (typeof own(own(entry.metadata, 'pino_ingest'), 'omitted_http_members') !== 'number') return () => false
  const messages = expected
    .flatMap(({ to }) => to.flatMap((step, index) => (HEADERS.includes(step) ? [to.slice(0, index)] : [])))
    .filter((to) => [undefined, '[omitted]'].includes(at(entry, to) as string | undefined))
  return ({ to }) =>
    to.some((step, index) => index > 1 && EXCHANGE.includes(String(step))) ||
    messages.some((path) => path.every((step, index) => step === to[index]))
}

/** Each leaf exists only once: the metadata has exactly the leaves that belong there. */
function surplus(entry: LogEntry, expected: readonly Expected[], options: MappingOptions): string[] {
  const wanted = expected.filter((one) => one.to[0] === 'metadata').length
  const routed = new Set(expected.filter((one) => one.to[0] === 'metadata').map((one) => one.to[1]))
  let had = 0
  for (const [key, value] of Object.entries(entry.metadata ?? {})) {
    const isOption = Object.hasOwn(options.metadata, key) && !routed.has(key)
    if (!isOption) had += key === 'pino_ingest' ? countOwnLeaves(value, expected) : countLeaves(value)
  }
  // An object that contained only headers is left empty.
  const removed = own(own(entry.metadata, 'pino_ingest'), 'removed_headers')
  if (typeof removed === 'number' && Math.abs(had - wanted) <= removed) return []
  // Instead of removed members an error may have a method, a URL and a status; an object without other members is
  // left empty.
  const omitted = own(own(entry.metadata, 'pino_ingest'), 'omitted_http_members')
  if (typeof omitted === 'number' && Math.abs(had - wanted) <= omitted * 4) return []
  return had === wanted ? [] : [`the metadata has ${had} leaves where the record has ${wanted} for it`]
}

const NOTES = ['cut_for_depth', 'cut_keys', 'removed_nul', 'removed_headers', 'omitted_http_members']

/** The record's own leaves under the key of the note. */
function countOwnLeaves(value: unknown, expected: readonly Expected[]): number {
  // An empty object is merged into the note.
  if (expected.some(({ to, holds }) => to.length === 2 && to[1] === 'pino_ingest' && holds({}))) return 1
  const facts = NOTES.filter((note) => own(value, note) !== undefined).length
  return countLeaves(value) - facts
}

function countLeaves(value: unknown): number {
  let leaves = 0
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    const inner = typeof next === 'object' && next !== null ? Object.values(next) : []
    if (inner.length === 0) leaves += 1
    else for (const item of inner) open.push(item)
  }
  return leaves
}

/** The field table, row by row. Each row removes its leaves from the tree; the remaining leaves are metadata. */
class Plan {
  readonly expected: Expected[] = []
  readonly problems: string[] = []
  hasWide = false
  readonly #record: Branch
  readonly #options: MappingOptions
  readonly #entry: LogEntry

  constructor(record: Branch, options: MappingOptions, entry: LogEntry) {
    this.#record = record
    this.#options = options
    this.#entry = entry
  }

  run(): void {
    const record = this.#record
    this.#lift()
    this.#message()
    const metadata = record.members.get('metadata')
    const isFree = metadata?.kind === 'branch' || metadata?.kind === 'empty-object'
    if (isFree) record.members.delete('metadata')
    this.#level()
    this.#time()
    this.#identity()
    for (const [field, ...keys] of [
      ['user_id', 'user_id', 'userId'],
      ['session_id', 'session_id', 'sessionId'],
      ['release_id', 'release_id', 'releaseId'],
      ['request_id', 'request_id', 'requestId', 'reqId'],
      ['action', 'action'],
      ['source', 'source', 'caller'],
      ['fingerprint', 'fingerprint'],
    ] as const) {
      this.#take(record, keys, field === 'request_id' ? isId : isText, [field])
      this.#dropRepeats(field, keys)
    }
    const hasRequest = this.#request()
    if (!this.#has('request_id')) this.#take(record, OTHER_REQUEST_IDS, isId, ['request_id'])
    this.#dropRepeats('request_id', OTHER_REQUEST_IDS)
    this.#trace()
    this.#error()
    this.#user()
    this.#perf(hasRequest)
    this.#deploy()
    this.#breadcrumbs()
    this.#texts('tags', ['tags'])
    this.#take(record, ['notify'], (leaf) => leaf.kind === 'word' && leaf.value !== null, ['notify'])
    this.#texts('notify_channels', ['notify_channels', 'notifyChannels'])
    if (metadata?.kind === 'branch') this.#keep(metadata, ['metadata'])
    for (const [key, tree] of record.members) this.#keep(tree, ['metadata', key])
  }

  #has(field: string): boolean {
    return this.expected.some((one) => one.to[0] === field)
  }

  #dropRepeats(field: string, keys: readonly string[]): void {
    if (!this.#has(field)) return
    const { members } = this.#record
    for (const key of keys) {
      const again = members.get(key)
      const isLeaf = again !== undefined && again.kind !== 'branch' && again.kind !== 'list' && isText(again)
      if (isLeaf && isSame(again, own(this.#entry, field))) members.delete(key)
    }
  }

  /** Expects a leaf at `to`, unchanged or converted to the type of the field. */
  #expect(tree: Leaf, from: string, to: readonly Step[], isWide = false): void {
    this.expected.push({ from, to, isWide, holds: (value) => isSame(tree, value) })
  }

  /** Expects everything below `tree` unchanged. */
  #keep(tree: Tree, to: readonly Step[], isWide = false): void {
    const open: [Tree, readonly Step[], boolean][] = [[tree, to, isWide]]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [node, path, within] = next
      if (node.kind === 'branch') {
        this.hasWide ||= node.isWide
        for (const [key, inner] of node.members) open.push([inner, [...path, key], within || node.isWide])
      } else if (node.kind === 'list') node.items.forEach((item, index) => open.push([item, [...path, index], within]))
      else this.#expect(node, path.join('.'), path, within || this.#record.isWide)
    }
    this.hasWide ||= this.#record.isWide
  }

  /** The first of `keys` whose value suits the field. */
  #take(from: Branch, keys: readonly string[], wanted: (leaf: Leaf) => boolean, to: readonly Step[]): Leaf | undefined {
    for (const key of keys) {
      const tree = from.members.get(key)
      if (tree === undefined || tree.kind === 'branch' || tree.kind === 'list' || !wanted(tree)) continue
      from.members.delete(key)
      this.#expect(tree, `${from.from}${key}`, to, this.#record.isWide)
      return tree
    }
    return undefined
  }

  /** The content of a wrapper belongs to the record, except members that would forge or overwrite others. */
  #lift(): void {
    const key = this.#options.nestedKey
    const nested = key === undefined ? undefined : branch(this.#record, key)
    if (nested === undefined || key === undefined) return
    for (const [name, tree] of [...nested.members]) {
      if (name === 'level' || name === 'time' || (name !== key && this.#record.members.has(name))) continue
      nested.members.delete(name)
      if (name === key) {
        this.#record.members.set(key, tree)
        if (nested.members.size > 0) this.problems.push('not judged: a wrapper in a wrapper')
        continue
      }
      this.#record.members.set(name, tree)
    }
    if (nested.members.size === 0 && this.#record.members.get(key) === nested) this.#record.members.delete(key)
  }

  #message(): void {
    const isMessage = (leaf: Leaf): boolean => isText(leaf) || (leaf.kind === 'word' && leaf.value !== null)
    // Not in the table: another logger read from a pipe has one of these two.
    const found =
      this.#take(this.#record, [this.#options.messageKey], isMessage, ['message']) ??
      this.#take(this.#record, ['message', 'msg'], (leaf) => leaf.kind === 'text', ['message'])
    if (found?.kind === 'text' && clean(found.value) === '' && this.#entry.error !== undefined) this.expected.pop()
  }

  #level(): void {
    if (!LEVELS.includes(this.#entry.level)) this.problems.push('no level')
    for (const key of ['level', 'severity']) {
      const tree = this.#record.members.get(key)
      const known = tree === undefined ? undefined : levelOf(tree, this.#options.levels)
      if (known === undefined) continue
      this.#record.members.delete(key)
      if (this.#entry.level !== known.level) this.problems.push(`${key} is ${known.level}, not ${this.#entry.level}`)
      if (known.isCustom)
        this.expected.push({
          from: key,
          to: ['metadata', 'level'],
          isWide: false,
          holds: (value) => String(value).toLowerCase() === known.label,
        })
      return
    }
    if (this.#entry.level !== 'info')
      this.problems.push(`no level of the record's, and not info but ${this.#entry.level}`)
  }

  #time(): void {
    for (const key of ['time', '@timestamp', 'timestamp', 'ts']) {
      const ms = msOf(this.#record.members.get(key))
      if (ms === undefined || (key === 'ts' && (ms < Date.UTC(2000) || ms >= Date.UTC(2100)))) continue
      this.#record.members.delete(key)
      // Exception 1: fractions of a millisecond are not compared.
      if (Math.abs(Date.parse(this.#entry.timestamp) - ms) > 1) this.problems.push(`${key} is not the timestamp`)
      return
    }
  }

  #identity(): void {
    const isPlain = (leaf: Leaf): boolean => leaf.kind === 'text'
    const named = this.#take(this.#record, ['service'], isPlain, ['service'])
    if (named === undefined && this.#options.service === undefined)
      this.#take(this.#record, ['name'], isPlain, ['service'])
    this.#take(this.#record, ['environment', 'env'], isPlain, ['environment'])
    this.#take(this.#record, ['version'], isPlain, ['version'])
  }

  #request(): boolean {
    const isPlain = (leaf: Leaf): boolean => leaf.kind === 'text'
    const req = branch(this.#record, 'req') ?? branch(this.#record, 'request') ?? emptyBranch()
    const res = branch(this.#record, 'res') ?? branch(this.#record, 'response') ?? emptyBranch()
    const headers = branch(req, 'headers') ?? emptyBranch()
    const agent = headers.members.get('user-agent')
    const hasOne = [
      this.#method(req),
      this.#take(req, ['url'], isPlain, ['request', 'url']),
      this.#take(req, ['path'], isPlain, ['request', 'path']),
      this.#take(res, ['statusCode', 'status_code'], isInteger, ['request', 'status_code']) ??
        this.#take(res, ['status'], isStatus, ['request', 'status_code']) ??
        this.#take(req, ['status_code', 'statusCode'], isInteger, ['request', 'status_code']),
      this.#take(req, ['remoteAddress', 'ip'], isPlain, ['request', 'ip']),
      this.#take(req, ['user_agent', 'userAgent'], isPlain, ['request', 'user_agent']) ??
        (agent?.kind === 'text'
          ? (this.#expect(agent, 'headers.user-agent', ['request', 'user_agent']), agent)
          : undefined),
      this.#take(req, ['duration_ms', 'durationMs'], isNumeric, ['request', 'duration_ms']),
    ]
    const hasRequest = hasOne.some((one) => one !== undefined)
    if (hasRequest && hasOne.at(-1) === undefined) {
      this.#take(this.#record, ['responseTime', 'duration_ms'], isNumeric, ['request', 'duration_ms'])
    }
    const id = req.members.get('id')
    if (id !== undefined && isId(id) && (!this.#has('request_id') || isSame(id, this.#entry.request_id))) {
      this.#take(req, ['id'], isText, ['request_id'])
    }
    const header = headers.members.get('x-request-id')
    if (header?.kind === 'text' && /^[\w.:-]{1,200}$/.test(header.value) && !this.#has('request_id'))
      this.#expect(header, 'headers.x-request-id', ['request_id'])
    this.#parent = headers.members.get('traceparent')
    const emptied = [req, res]
    for (const key of this.#record.members.keys()) {
      const part = branch(this.#record, key)
      if (part === undefined || !(['req', 'request', 'res', 'response'].includes(key) || isHttpMessage(part))) continue
      for (const unsent of UNSENT) if (part.members.delete(unsent)) emptied.push(part)
    }
    this.#drop(emptied)
    return hasRequest
  }

  /** hapi logs the method in lower case. */
  #method(req: Branch): Leaf | undefined {
    const method = req.members.get('method')
    if (method?.kind !== 'text') return undefined
    const value = METHODS.includes(method.value.toUpperCase()) ? method.value.toUpperCase() : method.value
    req.members.set('method', { kind: 'text', value })
    return this.#take(req, ['method'], () => true, ['request', 'method'])
  }

  /** The request's traceparent header. */
  #parent: Tree | undefined

  #trace(): void {
    const ids = (from: Branch): boolean =>
      [
        this.#take(from, ['trace_id', 'traceId'], isText, ['trace', 'trace_id']),
        this.#take(from, ['span_id', 'spanId'], isText, ['trace', 'span_id']),
        this.#take(from, ['parent_span_id', 'parentSpanId'], isText, ['trace', 'parent_span_id']),
      ].some((one) => one !== undefined)
    if (ids(this.#record)) return
    const trace = branch(this.#record, 'trace')
    if (trace !== undefined && ids(trace)) return this.#drop([trace])
    // ECS is the only other format whose names the generators use.
    if (trace !== undefined && this.#take(trace, ['id'], isText, ['trace', 'trace_id'])) return this.#drop([trace])
    const dd = branch(this.#record, 'dd')
    if (dd !== undefined && this.#datadog(dd)) return this.#drop([dd])
    const header =
      this.#parent?.kind === 'text'
        ? /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:-|$)/.exec(this.#parent.value)
        : null
    if (header !== null) {
      this.#expect({ kind: 'text', value: header[1] as string }, 'traceparent', ['trace', 'trace_id'])
      this.#expect({ kind: 'text', value: header[2] as string }, 'traceparent', ['trace', 'parent_span_id'])
    }
  }

  #datadog(dd: Branch): boolean {
    const fields = [
      ['trace_id', 32],
      ['span_id', 16],
    ] as const
    const found = fields.filter(([field, digits]) => {
      const text = textOf(dd, field) ?? ''
      const isNumber = dd.members.get(field)?.kind === 'number' && Number.isSafeInteger(Number(text))
      const decimal = isNumber ? String(Number(text)) : clean(text)
      if (!/^(?!0+$)\d{1,20}$/.test(decimal) || BigInt(decimal) >= 2n ** 64n) return false
      dd.members.delete(field)
      const value = BigInt(decimal).toString(16).padStart(digits, '0')
      this.#expect({ kind: 'text', value }, `dd.${field}`, ['trace', field])
      return true
    })
    return found.length > 0
  }

  #error(): void {
    const record = this.#record
    const isPlain = (from: Branch, key: string): boolean => from.members.get(key)?.kind === 'text'
    for (const key of [this.#options.errorKey, 'err', 'error']) {
      const tree = record.members.get(key)
      if (tree?.kind === 'text') {
        record.members.delete(key)
        return this.#expect(tree, key, ['error', 'message'])
      }
      if (tree?.kind !== 'branch' || !['type', 'message', 'stack'].some((field) => isPlain(tree, field))) continue
      record.members.delete(key)
      return this.#oneError(tree)
    }
    const stack = record.members.get('stack')
    const isFlat = stack?.kind === 'text' && /\n[ \t]+at /.test(clean(stack.value))
    if (!isFlat || [...record.members.values()].some(isError)) {
      for (const [key, tree] of record.members) {
        const items = tree.kind === 'list' && key !== 'breadcrumbs' ? tree.items : [tree]
        const error = items.find(isError)
        if (error === undefined) continue
        record.members.delete(key)
        const others = items.filter((item) => item !== error)
        if (tree.kind === 'list' && others.length > 0) record.members.set(key, { ...tree, items: others })
        return this.#oneError(error)
      }
      return
    }
    // winston writes the members of an error next to its stack.
    const flat = emptyBranch()
    for (const key of ['stack', 'code', 'errno', 'syscall', 'cause']) {
      const tree = record.members.get(key)
      if (tree === undefined) continue
      record.members.delete(key)
      flat.members.set(key, tree)
    }
    this.#oneError(flat)
  }

  #oneError(error: Branch): void {
    const isPlain = (leaf: Leaf): boolean => leaf.kind === 'text'
    if (DOM_CONSTANTS.every(([name, value]) => Number(textOf(error, name)) === value))
      for (const [name] of DOM_CONSTANTS) error.members.delete(name)
    dropGenericType(error)
    const type = this.#take(error, ['type'], isPlain, ['error', 'type'])
    const message = this.#take(error, ['message'], isPlain, ['error', 'message'])
    const expected = this.expected.at(-1)
    if (message?.kind === 'text' && clean(message.value) === '') this.expected.pop()
    else if (
      message?.kind === 'text' &&
      expected !== undefined &&
      textOf(error, 'stack')?.includes('\ncaused by: ') === true
    )
      expected.holds = (value) =>
        value === clean(message.value) || clean(message.value).startsWith(`${String(value)}: `)
    this.#stack(error)
    if (type === undefined && textOf(error, 'name') !== '') this.#take(error, ['name'], isPlain, ['error', 'type'])
    this.#chain(error)
    this.#keep(error, ['metadata', 'error'])
  }

  /** `error.stack` starts with the stack, or contains that of a cause. */
  #stack(error: Branch): void {
    const stack = error.members.get('stack')
    if (stack?.kind !== 'text') return
    error.members.delete('stack')
    this.expected.push({
      from: `${error.from}stack`,
      to: ['error', 'stack'],
      isWide: false,
      holds: (value) => typeof value === 'string' && value.includes(clean(stack.value)),
    })
  }

  #chain(error: Branch): void {
    const inner = [
      error.members.get('cause'),
      ...['aggregateErrors', 'errors'].flatMap((key) => {
        const parts = error.members.get(key)
        return parts?.kind === 'list' ? parts.items : []
      }),
    ]
    for (const part of inner) {
      if (!isError(part)) continue
      this.#stack(part)
      dropGenericType(part)
      const name = part.members.get('name')
      if (part.members.get('type')?.kind !== 'text' && name?.kind === 'text') {
        const type = part.members.get('type')
        part.members.delete('name')
        part.members.set(type === undefined ? 'type' : 'type_', name)
      }
      this.#chain(part)
    }
  }

  #user(): void {
    const user = branch(this.#record, 'user')
    if (user === undefined) return
    for (const field of ['id', 'email', 'name']) this.#take(user, [field], isText, ['user', field])
    this.#drop([user])
  }

  #perf(hasRequest: boolean): void {
    const perf = branch(this.#record, 'perf')
    for (const [field, ...others] of [
      ['duration_ms', ...(hasRequest ? [] : ['duration_ms', 'responseTime'])],
      ['memory_mb', 'memory_mb'],
      ['db_queries', 'db_queries'],
      ['cache_hits', 'cache_hits'],
    ] as const) {
      if (perf !== undefined && this.#take(perf, [field as string], isNumeric, ['perf', field as string]) !== undefined)
        continue
      this.#take(this.#record, others, isNumeric, ['perf', field as string])
    }
    if (perf !== undefined) this.#drop([perf])
  }

  #deploy(): void {
    const deploy = branch(this.#record, 'deploy')
    if (deploy === undefined) return
    this.#take(deploy, ['commit'], isText, ['deploy', 'commit'])
    this.#take(deploy, ['branch'], isText, ['deploy', 'branch'])
    this.#take(deploy, ['deployed_by', 'deployedBy'], isText, ['deploy', 'deployed_by'])
    this.#drop([deploy])
  }

  #breadcrumbs(): void {
    const crumbs = this.#record.members.get('breadcrumbs')
    if (crumbs?.kind === 'empty-list') this.#record.members.delete('breadcrumbs')
    if (crumbs?.kind !== 'list') return
    this.#record.members.delete('breadcrumbs')
    let place = 0
    const others: Tree[] = []
    for (const crumb of crumbs.items) {
      if (crumb.kind === 'branch') this.#crumb(crumb, ['breadcrumbs', place++])
      else if (crumb.kind === 'empty-object') place += 1
      else if (crumb.kind !== 'list' && isText(crumb))
        this.#expect(crumb, 'breadcrumbs', ['breadcrumbs', place++, 'message'])
      else others.push(crumb)
    }
    this.#rest('breadcrumbs', others)
  }

  #crumb(crumb: Branch, to: readonly Step[]): void {
    const isScalar = (leaf: Leaf): boolean => isText(leaf) || (leaf.kind === 'word' && leaf.value !== null)
    for (const field of ['type', 'category', 'message']) this.#take(crumb, [field], isScalar, [...to, field])
    const level = crumb.members.get('level')
    if (level?.kind === 'text') this.#take(crumb, ['level'], () => true, [...to, 'level'])
    else if (level?.kind === 'number' && levelOf(level, this.#options.levels) !== undefined)
      crumb.members.delete('level')
    for (const key of ['timestamp', 'time']) {
      if (msOf(crumb.members.get(key)) === undefined) continue
      crumb.members.delete(key)
      break
    }
    const data = branch(crumb, 'data')
    if (data !== undefined) {
      crumb.members.delete('data')
      this.#keep(data, [...to, 'data'])
    }
    // An empty list may remain, or the other members of the breadcrumb may be there.
    if (crumb.members.get('data')?.kind === 'empty-object') crumb.members.delete('data')
    this.#keep(crumb, [...to, 'data'])
  }

  #texts(field: string, keys: readonly string[]): void {
    for (const key of keys) {
      const tree = this.#record.members.get(key)
      if (tree === undefined) continue
      if (tree.kind === 'list') {
        this.#record.members.delete(key)
        const texts = tree.items.filter((item) => isText(item)) as Leaf[]
        texts.forEach((item, index) => this.#expect(item, key, [field, index]))
        return this.#rest(
          field,
          tree.items.filter((item) => !isText(item)),
        )
      }
      if (tree.kind === 'empty-list') {
        this.#record.members.delete(key)
        return
      }
      if (!isText(tree)) continue
      this.#take(this.#record, [key], isText, [field, 0])
      return
    }
  }

  /** Items that do not fit a list stay in the metadata under its name. */
  #rest(key: string, items: Tree[]): void {
    const free = this.#record.members.has(key) ? `${key}_` : key
    if (items.length > 0) this.#record.members.set(free, { kind: 'list', from: `${key}.`, items })
  }

  /** Exception 10. */
  #drop(parts: readonly Branch[]): void {
    for (const [key, tree] of [...this.#record.members]) {
      if (tree.kind === 'branch' && tree.members.size === 0 && parts.includes(tree)) this.#record.members.delete(key)
    }
  }
}

/** Exceptions 3 to 6, and 11: the record as a JSON parser reads it. */
function toTree(root: ObjectNode): Tree {
  const top: Tree[] = []
  const open: { node: JsonNode; depth: number; from: string; put: (tree: Tree) => void }[] = [
    { node: root, depth: 1, from: '', put: (tree) => top.push(tree) },
  ]
  for (let task = open.pop(); task !== undefined; task = open.pop()) {
    const { node, depth, from, put } = task
    if (isBeyondDouble(node)) put({ kind: 'text', value: node.literal })
    else if (node.kind !== 'object' && node.kind !== 'array') put(node)
    else if (depth > MAX_DEPTH) put({ kind: 'cut' })
    else if (node.kind === 'array') {
      if (node.items.length === 0) put({ kind: 'empty-list' })
      else {
        const list: List = { kind: 'list', from, items: [] }
        put(list)
        node.items.forEach((item, index) => {
          list.items.push(EMPTY)
          open.push({
            node: item,
            depth: depth + 1,
            from: `${from}${index}.`,
            put: (tree) => void (list.items[index] = tree),
          })
        })
      }
    } else if (node.members.length === 0) put({ kind: 'empty-object' })
    else {
      const members = new Map<string, JsonNode>()
      const later = new Map<string, JsonNode>()
      for (const [key, value] of node.members) {
        if (ALWAYS_REMOVED.test(clean(key))) continue
        const first = node === root && (key === 'level' || key === 'time') ? members.get(key) : undefined
        if (first === undefined) members.set(key, value)
        else later.set(key, value)
      }
      for (const [key, value] of later) {
        if (toValue(value) === toValue(members.get(key))) continue
        const names = ['', '_', '_2', '_5', '_11'].map((suffix) => `${key}_${suffix}`)
        members.set(names.find((name) => !members.has(name)) ?? '', value)
      }
      if (members.size === 0) {
        put({ kind: 'empty-object' })
        continue
      }
      const made: Branch = { kind: 'branch', from, members: new Map(), isWide: members.size > MAX_KEYS }
      put(made)
      for (const [written, value] of members) {
        // A sanitized key yields to a key that was written like that.
        const key = members.has(clean(written)) || made.members.has(clean(written)) ? written : clean(written)
        made.members.set(key, EMPTY)
        open.push({
          node: value,
          depth: depth + 1,
          from: `${from}${key}.`,
          put: (tree) => void made.members.set(key, tree),
        })
      }
    }
  }
  return top[0] as Tree
}

const EMPTY: Leaf = { kind: 'empty-list' }

/** Equal for equal values, apart from the order of an object's members. */
function toValue(node: JsonNode | undefined): string {
  return JSON.stringify(node, (key, value: unknown) =>
    key === 'literal' &&
    !isBeyondDouble({ kind: 'number', literal: String(value) }) &&
    Number.isSafeInteger(Number(value))
      ? Number(value)
      : value,
  )
}

/** Whether an entry has a value at a path. A duplicate or sanitized key has a suffix. */
function isThere(value: unknown, to: readonly Step[], holds: (value: unknown) => boolean): boolean {
  const [step, ...rest] = to
  if (step === undefined) return holds(value)
  if (typeof step === 'number') return Array.isArray(value) && isThere(value[step], rest, holds)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  // A record's own member of this name that is not an object is moved into the note.
  if (step === 'pino_ingest' && (isThere(own(own(value, step), 'own'), rest, holds) || holds({}))) return true
  const key = clean(step)
  const members = value as Record<string, unknown>
  if (Object.hasOwn(members, key) && isThere(members[key], rest, holds)) return true
  return Object.keys(members).some(
    (other) =>
      other.startsWith(`${key}_`) && /^_\d*_*$/.test(other.slice(key.length)) && isThere(members[other], rest, holds),
  )
}

function at(value: unknown, to: readonly Step[]): unknown {
  return to.reduce<unknown>((inner, step) => own(inner, typeof step === 'number' ? step : clean(step)), value)
}

function own(value: unknown, key: Step): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<Step, unknown>)[key]
    : undefined
}

/** Exception 6. */
function clean(text: string): string {
  return text.replaceAll('\0', '').toWellFormed().replaceAll('Bearer secret', 'Bearer [removed]')
}

/** A text field accepts a number's digits, a number field the number in a text. */
function isSame(leaf: Leaf, value: unknown): boolean {
  switch (leaf.kind) {
    case 'text':
      return value === clean(leaf.value) || (typeof value === 'number' && value === Number(leaf.value))
    case 'number':
      return typeof value === 'number'
        ? value === Number(leaf.literal)
        : typeof value === 'string' && (value === leaf.literal || value === String(Number(leaf.literal)))
    case 'word':
      return value === leaf.value || value === String(leaf.value)
    case 'cut':
      return typeof value === 'string'
    case 'empty-list':
      return Array.isArray(value) && value.length === 0
    case 'empty-object':
      return typeof value === 'object' && value !== null && Object.keys(value).length === 0
  }
}

function branch(from: Branch, key: string): Branch | undefined {
  const tree = from.members.get(key)
  return tree?.kind === 'branch' ? tree : undefined
}

function isHttpMessage({ members }: Branch): boolean {
  const has = (key: string, ...kinds: string[]): boolean => kinds.includes(members.get(key)?.kind ?? '')
  if (!has('headers', 'branch', 'empty-object')) return false
  if (has('method', 'text') && has('url', 'text')) return true
  return ['statusCode', 'status_code', 'status'].some((key) => {
    const status = members.get(key)
    return status?.kind === 'number' && /^[1-9]\d\d$/.test(String(Number(status.literal)))
  })
}

function dropGenericType({ members }: Branch): void {
  const [type, name, stack = ''] = ['type', 'name', 'stack']
    .map((key) => members.get(key))
    .map((one) => (one?.kind === 'text' ? clean(one.value) : ''))
  if (members.get('type')?.kind !== 'text' || !['', 'DOMException', 'Error', 'Object'].includes(type ?? '')) return
  const head = /^(?:[A-Z][a-z]+)?Error(?=: )/.exec(stack)?.[0]
  if (name !== '' || type === '') members.delete('type')
  if (name === '' && head !== undefined) members.set('type', { kind: 'text', value: head })
}

function textOf(from: Branch, key: string): string | undefined {
  const tree = from.members.get(key)
  return tree?.kind === 'text' ? tree.value : tree?.kind === 'number' ? tree.literal : undefined
}

function emptyBranch(): Branch {
  return { kind: 'branch', from: '', members: new Map(), isWide: false }
}

function isText(tree: Tree): tree is TextNode | NumberNode {
  return tree.kind === 'text' || tree.kind === 'number'
}

function isId(tree: Tree): tree is TextNode | NumberNode {
  return isText(tree) && !(tree.kind === 'text' && clean(tree.value) === '')
}

/** Exception 8. */
function isBeyondDouble(node: JsonNode): node is NumberNode {
  return node.kind === 'number' && !Number.isFinite(Number(node.literal))
}

function isLongInteger(tree: Tree | JsonNode): boolean {
  return tree.kind === 'number' && /^-?\d+$/.test(tree.literal)
}

/** A number that a double can represent, or text of such a number. */
function isNumeric(leaf: Leaf): boolean {
  if (leaf.kind === 'text') return /^[+-]?\d+(\.\d+)?$/.test(leaf.value) && Number.isFinite(Number(leaf.value))
  if (leaf.kind !== 'number' || !Number.isFinite(Number(leaf.literal))) return false
  return (
    !isLongInteger(leaf) || Number.isSafeInteger(Number(leaf.literal)) || String(Number(leaf.literal)) === leaf.literal
  )
}

function isInteger(leaf: Leaf): boolean {
  return (
    isNumeric(leaf) && Number.isSafeInteger(Number(leaf.kind === 'text' ? leaf.value : (leaf as NumberNode).literal))
  )
}

function isStatus(leaf: Leaf): boolean {
  return leaf.kind === 'number' && /^[1-9]\d\d$/.test(String(Number(leaf.literal)))
}

function isError(tree: Tree | undefined): tree is Branch {
  if (tree?.kind !== 'branch') return false
  const has = (key: string): boolean => tree.members.get(key)?.kind === 'text'
  const stack = tree.members.get('stack')
  return stack?.kind === 'text' && clean(stack.value) !== '' && (has('message') || has('type'))
}

/** Milliseconds since the epoch, from s, ms, us or ns by magnitude, or from ISO 8601. */
function msOf(tree: Tree | undefined): number | undefined {
  if (tree?.kind !== 'number' && tree?.kind !== 'text') return undefined
  const text = tree.kind === 'number' ? tree.literal : clean(tree.value)
  let ms: number
  if (tree.kind === 'number' || /^[+-]?\d+(\.\d+)?$/.test(text)) {
    const size = Math.abs(Number(text))
    const perMs = size < 1e11 ? 1e-3 : size < 1e14 ? 1 : size < 1e17 ? 1e3 : 1e6
    ms = Number(text) / perMs
  } else if (/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/i.test(text)) ms = Date.parse(text.replace(',', '.'))
  else return undefined
  // Years 1 to 9999.
  return ms >= Date.parse('0001-01-01T00:00:00.000Z') && ms < Date.UTC(10_000, 0, 1) ? ms : undefined
}

interface KnownLevel {
  level: string
  /** Lower case. */
  label: string
  isCustom: boolean
}

/**
 * pino's six levels and their common spellings by name, others by number, in a table that has pino's levels or none of
 * them; the metadata has the original value.
 */
function levelOf(tree: Tree, labels: MappingOptions['levels']): KnownLevel | undefined {
  const names: Record<string, string> = {
    trace: 'debug',
    debug: 'debug',
    info: 'info',
    warn: 'warn',
    warning: 'warn',
    error: 'error',
    fatal: 'fatal',
    critical: 'fatal',
  }
  const pino: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }
  const byNumber = (number: number): string =>
    number >= 60 ? 'fatal' : number >= 50 ? 'error' : number >= 40 ? 'warn' : number >= 30 ? 'info' : 'debug'
  const isUnknown = (number: number): boolean => number < 10 && labels[number] === undefined
  if (tree.kind !== 'number' && tree.kind !== 'text') return undefined
  const text = tree.kind === 'number' ? tree.literal : clean(tree.value).trim()
  const number = text === '' ? Number.NaN : Number(text)
  if (isUnknown(number)) return undefined
  if (Number.isFinite(number)) {
    const label = (labels[number] ?? pino[number] ?? String(number)).toLowerCase()
    const isKnown = Object.hasOwn(names, label)
    return { level: isKnown ? (names[label] as string) : byNumber(number), label, isCustom: !isKnown }
  }
  const label = text.toLowerCase()
  if (Object.hasOwn(names, label)) return { level: names[label] as string, label, isCustom: false }
  const custom = Object.entries(labels).find(([, name]) => name.toLowerCase() === label)
  if (custom !== undefined) return { level: byNumber(Number(custom[0])), label, isCustom: true }
  // Not in the table: level names of other loggers.
  const others: Record<string, string> = {
    silly: 'debug',
    verbose: 'debug',
    default: 'info',
    information: 'info',
    informational: 'info',
    notice: 'info',
    http: 'info',
    log: 'info',
    err: 'error',
    crit: 'fatal',
    alert: 'fatal',
    panic: 'fatal',
    emerg: 'fatal',
    emergency: 'fatal',
  }
  return Object.hasOwn(others, label) ? { level: others[label] as string, label, isCustom: true } : undefined
}
