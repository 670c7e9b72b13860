/**
 * [worker] Runs the application's `beforeSend`. If the hook fails, the failure is reported and the entry is sent
 * unchanged.
 */
import { types } from 'node:util'
import { APPLICATION_MESSAGES } from '../diagnostics/messages.js'
import { isObject } from '../shared/argument-checks.js'
import { LEVELS } from '../protocol/log-entry.js'
import type { Json, JsonObject, LogEntry } from '../protocol/log-entry.js'
import { finishEntry } from '../record/finish-entry.js'
import { copyClean, createCutCounts } from '../record/clean-copy.js'
import type { CutCounts } from '../record/clean-copy.js'
import { noteCuts } from '../record/shorten-entry.js'
import type { Redactor } from '../redaction/redactor.js'
import { isMarkedNumber, parseExact, unmarkNumber } from '../shared/exact-json.js'
import type { HookFunction } from './load-hook.js'
import { formatThrown } from './format-thrown.js'

export interface BeforeSendHookOptions {
  readonly hook: HookFunction
  /** Called for each entry on which the hook fails; the receiver limits the rate. */
  readonly onProblem: (message: string) => void
  /** Describes how a value violates the interface; `undefined` for a valid entry. Objects have no prototype. */
  readonly isValid: (entry: unknown) => string | undefined
  /** Maximum UTF-8 bytes of an entry after the hook. Default 256 KiB. */
  readonly maxEntryBytes?: number
  /** Redacts secrets that the hook may have added. */
  readonly redactor: Redactor
}

export interface HookResult {
  readonly json: string
  /** Position of its level in `LEVELS`. Set if the hook changed the entry. */
  readonly severity?: number
}

const MAX_ENTRY_BYTES = 256 * 1024

export class BeforeSendHook {
  readonly #options: BeforeSendHookOptions
  readonly #maxEntryBytes: number

  constructor(options: BeforeSendHookOptions) {
    this.#options = options
    this.#maxEntryBytes = options.maxEntryBytes ?? MAX_ENTRY_BYTES
  }

  /** Never throws. @param entryJson a valid entry */
  apply(entryJson: string): HookResult | 'drop' {
    let result: unknown
    try {
      result = this.#options.hook(JSON.parse(entryJson) as LogEntry)
    } catch (error) {
      return this.#failed(entryJson, `threw ${formatThrown(error)}`)
    }
    if (result === null) return 'drop'
    const fault = findFault(result)
    if (fault !== undefined) return this.#failed(entryJson, fault)
    try {
      return this.#keep(result, entryJson)
    } catch (error) {
      return this.#failed(entryJson, `returned a value that cannot be written as JSON: ${formatThrown(error)}`)
    }
  }

  /** Validates the result as JSON, because JSON is sent. */
  #keep(result: unknown, entryJson: string): HookResult {
    // May be `undefined` if `toJSON` returns `undefined`; the types omit this case.
    const json = JSON.stringify(result) as string | undefined
    if (json === entryJson) return { json }
    const returned = json === undefined ? undefined : (JSON.parse(json) as unknown)
    if (!isObject(returned))
      return this.#failed(entryJson, `returned an object that becomes ${json?.slice(0, 80) ?? 'nothing'} in JSON`)
    const cuts = createCutCounts()
    const entry = cleanEntry(returned, cuts)
    const reason = this.#options.isValid(entry)
    if (reason !== undefined) return this.#failed(entryJson, `returned an invalid entry: ${formatThrown(reason)}`)
    if (LONG_NUMBER.test(entryJson)) restoreNumbers(entryJson, entry)
    return this.#write(entry as unknown as LogEntry, cuts)
  }

  #write(entry: LogEntry, cuts: CutCounts): HookResult {
    noteCuts(entry, cuts)
    return {
      json: finishEntry(entry, this.#maxEntryBytes, this.#options.redactor),
      severity: LEVELS.indexOf(entry.level),
    }
  }

  /** @returns the original text, regardless of the hook's changes to the object */
  #failed(entryJson: string, fault: string): HookResult {
    this.#options.onProblem(APPLICATION_MESSAGES.hookFailed.text(fault))
    return { json: entryJson }
  }
}

/** Limits depth and width of the metadata to those of a record. */
function cleanEntry({ metadata, ...others }: { metadata?: Json }, cuts: CutCounts): JsonObject {
  const entry = copyClean(others, cuts)
  if (metadata !== undefined) entry['metadata'] = isObject(metadata) ? copyClean(metadata, cuts, () => true) : metadata
  return entry
}

function findFault(result: unknown): string | undefined {
  if (result === undefined) return 'returned undefined: return the entry, or null to drop it'
  if (typeof result !== 'object' || Array.isArray(result))
    return `returned ${Array.isArray(result) ? 'an array' : `a ${typeof result}`} instead of an entry`
  if (!types.isPromise(result)) return undefined
  // An unhandled rejection would end the process.
  result.catch(() => {})
  return 'returned a promise: it must be synchronous'
}

/** Text without a match contains no such integer. */
const LONG_NUMBER = /\d{16}/

type Container = Record<string | number, Json>

/**
 * Marks in `entry`, as `parseExact` does, each unchanged number that has more digits in `original`.
 *
 * @param entry changed in place; must be written by `stringifyExact`
 */
function restoreNumbers(original: string, entry: JsonObject): void {
  // Walks both values together. Not recursive, since logged data may be deeply nested.
  const open: [Container, Container][] = [[parseExact(original) as Container, entry as Container]]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [before, after] = pair
    for (const key of Object.keys(before)) {
      const old = before[key] as Json
      const now = Object.hasOwn(after, key) ? after[key] : undefined
      if (typeof old === 'object' && old !== null) {
        if (typeof now === 'object' && now !== null) open.push([old as Container, now as Container])
      } else if (typeof old === 'string' && isMarkedNumber(old) && now === Number(unmarkNumber(old))) after[key] = old
    }
  }
}
