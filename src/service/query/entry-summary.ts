/** Summarizes an entry for a row of a list, with bounded lengths (pure). */
import type { Json, JsonObject } from '../../protocol/log-entry.js'
import type { StoredEntry } from '../store/stored-record.js'
import { foldCase } from '../store/record-texts.js'
import { findRunId } from '../store/runs.js'
import type { EntrySummary } from './api-types.js'
import { findText, listSearchTexts } from './language/search-texts.js'
import { readField } from './matching/record-readers.js'
import { findFieldWith } from './matching/stored-fields.js'
import { truncate } from './truncate.js'

const MAX_MESSAGE = 500
const MAX_CELL = 200
const MAX_TAGS = 20
const MAX_TAG = 100

export interface SummaryOptions {
  readonly columns?: readonly string[] | undefined
  readonly q?: string | undefined
}

export function createSummarizer({ columns = [], q = '' }: SummaryOptions): (record: StoredEntry) => EntrySummary {
  const texts = listSearchTexts(q)
  return (record) => {
    const summary = summarizeEntry(record, columns)
    const hit = findHit(record, summary, texts)
    return hit === undefined ? summary : { ...summary, hit }
  }
}

function findHit(record: StoredEntry, summary: EntrySummary, texts: readonly string[]): EntrySummary['hit'] {
  if (texts.length === 0) return undefined
  const { message, error, request } = summary
  // A row can cut the details.
  const shown = [message, error?.type, error?.message, request?.path]
  const occursIn = (one: unknown, text: string): boolean => findText(foldCase(String(one)), text) !== -1
  for (const text of texts) {
    if (shown.some((one) => one !== undefined && occursIn(one, text))) continue
    const found = findFieldWith(record, (one) => occursIn(one, text))
    if (found !== undefined) return { field: found.field, value: excerpt(found.text, text) }
  }
  return undefined
}

const MAX_HIT = 80
const HIT_CONTEXT = 20

/** The part of a long text around what was found. */
function excerpt(text: string, found: string): string {
  const at = text.length > MAX_HIT ? foldCase(text).indexOf(found) - HIT_CONTEXT : 0
  return at > 0 ? `…${truncate(text.slice(at), MAX_HIT - 1)}` : truncate(text, MAX_HIT)
}

function summarizeEntry(record: StoredEntry, columns: readonly string[]): EntrySummary {
  const { id, seq, received_at, entry } = record
  const { timestamp, level, service, environment, version, request_id, release_id, error, request, tags = [] } = entry
  const { action, trace, user_id, user } = entry
  const breadcrumbs = entry.breadcrumbs?.length ?? 0
  const texts = {
    service,
    environment,
    version,
    user: user_id ?? user?.id ?? user?.email ?? user?.name,
    action,
    trace_id: trace?.trace_id,
    span_id: trace?.span_id,
    request_id,
    release_id,
    run: findRunId(entry),
  }
  const details = findDetails(entry.metadata, [request?.path, request?.url])
  return {
    id,
    seq,
    received_at,
    timestamp,
    level,
    message: truncate(entry.message, MAX_MESSAGE),
    ...truncateAll(texts),
    ...(error !== undefined && { error: truncateAll({ type: error.type, message: error.message }) }),
    ...(request !== undefined && { request: summarizeRequest(request) }),
    ...(tags.length > 0 && { tags: tags.slice(0, MAX_TAGS).map((tag) => truncate(tag, MAX_TAG)) }),
    ...(tags.length > MAX_TAGS && { tag_count: tags.length }),
    ...(breadcrumbs > 0 && { breadcrumbs }),
    ...(details !== undefined && { details }),
    ...(columns.length > 0 && { columns: summarizeColumns(record, columns) }),
  }
}

function summarizeColumns(record: StoredEntry, columns: readonly string[]): Readonly<Record<string, string>> {
  const cells: [string, string][] = []
  for (const name of columns) {
    const text = readField(record, name)
    if (text !== undefined) cells.push([name, truncate(text, MAX_CELL)])
  }
  return Object.fromEntries(cells)
}

function summarizeRequest(request: NonNullable<StoredEntry['entry']['request']>): NonNullable<EntrySummary['request']> {
  const { method, path, status_code, duration_ms } = request
  return {
    ...truncateAll({ method, path }),
    ...(status_code !== undefined && { status_code }),
    ...(duration_ms !== undefined && { duration_ms }),
  }
}

function truncateAll<K extends string>(texts: Readonly<Record<K, string | undefined>>): { readonly [P in K]?: string } {
  const present = Object.entries<string | undefined>(texts).filter(([, text]) => text !== undefined)
  const truncated = present.map(([name, text]) => [name, truncate(text as string, MAX_CELL)])
  return Object.fromEntries(truncated) as { readonly [P in K]?: string }
}

const MAX_DETAILS = 8
const MAX_DETAIL_NAME = 60
const MAX_DETAIL_TEXT = 80
/** Limits the members to inspect, because metadata can have any size. */
const MAX_VISITED_MEMBERS = 100
const MAX_DEPTH = 4
/** Fields without information for a reader: equal in all rows of a run, or different in every row. */
const LEFT_OUT = /^(?:pid|hostname|event_id|req\.remote(?:Port|Address)|error\.(?:cause\.)+type)$/

type Details = Record<string, string | number | boolean>

/** @param paths texts that the row shows otherwise @returns undefined if there are no details */
function findDetails(
  metadata: JsonObject | undefined,
  paths: readonly (string | undefined)[] = [],
): Readonly<Details> | undefined {
  if (metadata === undefined) return undefined
  const details: [string, Details[string]][] = []
  let visited = 0
  const visit = (object: JsonObject, prefix: string, depth: number): void => {
    for (const key in object) {
      if (details.length === MAX_DETAILS || ++visited > MAX_VISITED_MEMBERS) return
      const name = prefix + key
      const value = object[key] as Json
      if (name.length > MAX_DETAIL_NAME || LEFT_OUT.test(name) || paths.includes(value as string)) continue
      if (typeof value === 'string') details.push([name, truncate(value, MAX_DETAIL_TEXT)])
      else if (typeof value === 'number' || typeof value === 'boolean') details.push([name, value])
      else if (value !== null && !Array.isArray(value) && depth < MAX_DEPTH) visit(value, `${name}.`, depth + 1)
    }
  }
  visit(metadata, '', 1)
  return details.length === 0 ? undefined : Object.fromEntries(details)
}
