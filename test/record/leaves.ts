/**
 * No value is lost: every leaf of a record is a value of its entry, and the metadata has no other values.
 * `reference/entry-fields.test.ts` says which field has it. An entry may lack or change:
 *  1. level and times, which get another form, ids of traces in another form, and the method, which is in upper case
 *  2. headers, bodies, and the requests and responses in an error
 *  3. what is deeper than 32 levels, or beyond 1,000 keys of an object
 *  4. NUL, lone surrogates, the text after `Bearer`, and numbers out of range of a double
 *  5. the stacks of causes and messages of causes, which are parts of `error.stack`; types that say
 *     nothing; the values of a statement; the constants of DOMException
 *  6. everything, in a record that is marked as shortened or incomplete
 */
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'

/** Exceptions 1, 2 and 5. */
const CHANGED = new Set(
  `level severity time timestamp @timestamp ts traceparent b3 dd trace_id span_id parent_span_id method headers header rawheaders trailers body
  rawbody payload authorization cookie set-cookie x-api-key`.split(/\s+/),
)
/** Within an error. */
const CHANGED_IN_ERROR = new Set(
  'config options request response req res data error errors cause aggregateErrors query sql parameters params type name message stack'.split(
    ' ',
  ),
)
const MAX_DEPTH = 32
const MAX_KEYS = 1_000

/** The leaves of `raw` that are missing in `entry`, and values of the metadata that are in neither the record nor the option. */
export function missingLeaves(raw: string, entry: LogEntry, { metadata }: Pick<MappingOptions, 'metadata'>): string[] {
  const note = entry.metadata?.['pino_ingest'] as Record<string, unknown> | undefined
  if (note?.['shortened_from_bytes'] !== undefined || note?.['cut_from_chars'] !== undefined) return []
  const line = raw.replace(/\r?\n?$/, '')
  const record = parse(line)
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return entry.message === clean(line) || entry.message.includes('[removed]') ? [] : ['the line is not the message']
  }
  const sent = new Set(leaves(entry).map(({ text }) => text))
  const stack = entry.error?.stack ?? ''
  const given = new Set([...leaves(record), ...leaves(metadata)].map(({ text }) => text))
  const { pino_ingest: _note, level: _level, time: _time, ...own } = entry.metadata ?? {}
  return [
    ...leaves(record, { isChecked: true })
      .filter(({ text }) => !sent.has(text) && !stack.includes(text))
      .map(({ path }) => `${path} is missing`),
    ...leaves(own)
      .filter(({ text }) => !given.has(text))
      .map(({ path }) => `${path} is not in the record`),
  ]
}

interface Leaf {
  readonly path: string
  readonly text: string
}

/** @param options.isChecked omits what an entry may lack */
export function leaves(root: unknown, { isChecked = false } = {}): Leaf[] {
  const found: Leaf[] = []
  const visit = (value: unknown, path: readonly string[], isError: boolean): void => {
    if (typeof value !== 'object' || value === null) {
      const text = clean(String(value))
      // `null` and '' may be absent, and a number may have become the text of its digits.
      if (isChecked && (value === null || text === '' || text === 'Infinity' || text === '-Infinity')) return
      found.push({ path: path.join('.'), text })
      return
    }
    const members = Object.entries(value)
    if (isChecked && (path.length >= MAX_DEPTH || members.length > MAX_KEYS)) return
    const holdsError = isError || (Object.hasOwn(value, 'stack') && !Array.isArray(value))
    for (const [key, member] of members) {
      const name = clean(key).toLowerCase()
      const isChanged = CHANGED.has(name) || (holdsError && (CHANGED_IN_ERROR.has(key) || key.endsWith('_ERR')))
      if (!isChecked || !isChanged) visit(member, [...path, key], isError || ['err', 'error'].includes(key))
    }
  }
  visit(root, [], false)
  return found
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Exception 4. Digits are compared as the double that they are. */
function clean(text: string): string {
  if (/^-?\d{16,}$/.test(text)) return String(Number(text))
  return text.replaceAll('\0', '').toWellFormed().replaceAll('Bearer secret', 'Bearer [removed]')
}
