/** [worker] The app's own last word on every entry. A fault of it costs no entry: it is told, and the entry goes unchanged. */
import { types } from 'node:util'
import { APPLICATION_MESSAGES } from '../diagnostics/messages.js'
import { LEVELS } from '../protocol/log-entry.js'
import type { Json, JsonObject, LogEntry } from '../protocol/log-entry.js'
import { finishEntry } from '../record/finish-entry.js'
import { cleanCopy } from '../record/clean-copy.js'
import type { CutCounts } from '../record/clean-copy.js'
import { addNote } from '../record/shorten-entry.js'
import type { Redactor } from '../redaction/redactor.js'
import { LONG_NUMBER, restoreNumbers } from './restore-numbers.js'
import type { HookFunction } from './load-hook.js'
import { formatThrown } from './format-thrown.js'

export interface BeforeSendHookOptions {
  readonly hook: HookFunction
  /** Told for each entry that the hook has failed on: whoever takes it holds it back to a bearable rate. */
  readonly onProblem: (message: string) => void
  /** Says what breaks the interface; `undefined` for what is an entry. Objects come without a prototype. */
  readonly isValid: (entry: unknown) => string | undefined
  /** UTF-8 bytes of an entry: a hook may have added to it. Default 256 KiB. */
  readonly maxEntryBytes?: number
  /** Takes out what the hook may have added. */
  readonly redactor?: Redactor | undefined
}

export interface HookResult {
  /** The entry that is sent. */
  readonly json: string
  /** Position of its level in `LEVELS`, where the hook has changed the entry. */
  readonly rank?: number
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
    const fault = faultOf(result)
    if (fault !== undefined) return this.#failed(entryJson, fault)
    try {
      return this.#keep(result, entryJson)
    } catch (error) {
      return this.#failed(entryJson, `returned what cannot be written as JSON: ${formatThrown(error)}`)
    }
  }

  /** Judged is what JSON makes of it, since that is what is sent. */
  #keep(result: unknown, entryJson: string): HookResult {
    // `undefined` where a `toJSON` says so, which the types do not know.
    const json = JSON.stringify(result) as string | undefined
    if (json === entryJson) return { json }
    const returned = json === undefined ? undefined : (JSON.parse(json) as unknown)
    if (!isObject(returned))
      return this.#failed(entryJson, `returned an object that becomes ${json?.slice(0, 80) ?? 'nothing'} in JSON`)
    const cuts: CutCounts = { depth: 0, keys: 0 }
    const entry = cleanEntry(returned, cuts)
    const reason = this.#options.isValid(entry)
    if (reason !== undefined) return this.#failed(entryJson, `returned no valid entry: ${formatThrown(reason)}`)
    if (LONG_NUMBER.test(entryJson)) restoreNumbers(entryJson, entry)
    return this.#write(entry as unknown as LogEntry, cuts)
  }

  #write(entry: LogEntry, { depth, keys }: CutCounts): HookResult {
    if (depth > 0) addNote(entry, { cut_for_depth: depth })
    if (keys > 0) addNote(entry, { cut_keys: keys })
    return { json: finishEntry(entry, this.#maxEntryBytes, this.#options.redactor), rank: LEVELS.indexOf(entry.level) }
  }

  /** The text that came, whatever the hook has done to the object that it was given. */
  #failed(entryJson: string, fault: string): HookResult {
    this.#options.onProblem(APPLICATION_MESSAGES.hookFailed.text(fault))
    return { json: entryJson }
  }
}

/** Its metadata may be as deep and as wide as a record, the mapper's own cuts left aside. */
function cleanEntry({ metadata, ...others }: { metadata?: Json }, cuts: CutCounts): JsonObject {
  const entry = cleanCopy(others, cuts)
  if (metadata !== undefined) entry['metadata'] = isObject(metadata) ? cleanCopy(metadata, cuts, () => true) : metadata
  return entry
}

function faultOf(result: unknown): string | undefined {
  if (result === undefined) return 'returned nothing: let it return the entry, or null to drop it'
  if (typeof result !== 'object' || Array.isArray(result))
    return `returned ${Array.isArray(result) ? 'an array' : `a ${typeof result}`} in place of an entry`
  if (!types.isPromise(result)) return undefined
  // What it is rejected with has no taker, and would end the process.
  result.catch(() => {})
  return 'returned a promise: it must be synchronous'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
