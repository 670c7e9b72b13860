/** Answers the kernel's questions with the functions of the reference path, which defines the mapping. */
import type { Json, JsonObject } from '../../protocol/log-entry.js'
import { parseExact, stringifyExact } from '../../shared/exact-json.js'
import { resolveLevel, take, toIdText } from '../coerce.js'
import { removeSecretMembers } from '../../redaction/secret-members.js'
import { mayHaveSecret } from '../../redaction/secret-text.js'
import { createObject } from '../clean-copy.js'
import { mayContainExchange, omitHttpMembers } from '../http-error.js'
import { findTopFrame, takeError } from '../reference/entry-error.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { normalizeMethod } from '../reference/entry-request.js'
import { createFingerprint } from '../reference/error-fingerprint.js'
import { parseTraceHeader } from '../reference/trace-header.js'
import { NOTE_KEY } from '../shorten-entry.js'
import { LEVELS, OPTION, OUTPUT, Option, Question, RESULT, Result, TEXTS_END } from '../memory.js'

const DECLINED = -1
const LEVEL_BYTES = 64
const MAX_LEVELS = 32
const LEVEL_TEXTS = TEXTS_END - 16_384
const NONE: readonly string[] = []

export class Answers {
  readonly #bytes: Buffer
  readonly #words: Uint32Array
  readonly #options: MappingOptions
  readonly #createBreadcrumb: (row: number) => string
  #levelTextAt = LEVEL_TEXTS

  /** @param createBreadcrumb returns the breadcrumb of the row at this place */
  constructor(memory: ArrayBuffer, options: MappingOptions, createBreadcrumb: (row: number) => string) {
    this.#bytes = Buffer.from(memory)
    this.#words = new Uint32Array(memory)
    this.#options = options
    this.#createBreadcrumb = createBreadcrumb
  }

  /** @param at place of the answers @returns their number, or -1 for the reference path */
  ask(question: number, from: number, to: number, at: number): number {
    const texts = this.#answer(question, from, to)
    if (texts === undefined) return DECLINED
    let place = at
    for (const [index, text] of texts.entries()) {
      // A UTF-16 unit becomes at most three bytes.
      if (place + 3 * text.length > OUTPUT) return DECLINED
      const written = text === '' ? 0 : this.#bytes.write(text, place)
      this.#words[(RESULT + Result.ASKED) / 4 + index] = written
      place += written
    }
    return texts.length
  }

  #text(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to)
  }

  #told(index: number): string {
    const at = (RESULT + Result.ASKED) / 4 + 2 * index
    return this.#text(this.#words[at] as number, Math.max(this.#words[at + 1] as number, this.#words[at] as number))
  }

  #answer(question: number, from: number, to: number): readonly string[] | undefined {
    switch (question) {
      case Question.LEVEL:
        return this.#addLevel(from, to)
      case Question.SECOND:
        return [new Date(Number(this.#text(from, to)) * 1e3).toISOString()]
      case Question.FINGERPRINT: {
        const [type, message, source] = [this.#told(0), this.#told(1), this.#told(2)]
        return [`"${createFingerprint(unquote(type), unquote(message), unquote(`"${source}"`))}"`]
      }
      case Question.EXCHANGE:
        return mayContainExchange(this.#text(from, to)) ? undefined : NONE
      case Question.USER:
        return readUser(this.#text(from, to))
      case Question.TAGS:
        return this.#joinTags(JSON.parse(this.#text(from, to)) as Json)
      case Question.TRACE: {
        const trace = parseTraceHeader(JSON.parse(this.#text(from, to)) as Json)
        return trace === undefined ? ['', ''] : [JSON.stringify(trace), trace.trace_id ?? '']
      }
      case Question.METHOD:
        return [`"${normalizeMethod(this.#text(from + 1, to - 1))}"`]
      case Question.BREADCRUMB:
        return [this.#createBreadcrumb(from)]
      case Question.ERROR:
        return this.#readError(this.#text(from, to))
      default:
        return undefined
    }
  }

  #addLevel(from: number, to: number): readonly string[] | undefined {
    const value = this.#text(from, to)
    if (!/^["\d-]/.test(value)) return undefined
    const resolved = resolveLevel(JSON.parse(value) as Json, this.#options.levels)
    if (resolved === undefined) return undefined
    const opening = `{"level":"${resolved.level}","message":`
    const metadata = resolved.customLevel === undefined ? '' : `"level":${JSON.stringify(resolved.customLevel)}`
    let count = this.#words[(OPTION + Option.LEVEL_COUNT) / 4] as number
    if (count === MAX_LEVELS) {
      count = 0
      this.#levelTextAt = LEVEL_TEXTS
    }
    if (this.#levelTextAt + 3 * (opening.length + metadata.length) > TEXTS_END) return undefined
    const at = LEVELS + LEVEL_BYTES * count
    this.#words.set([to - from, resolved.severity], at / 4)
    this.#setText(at + 8, opening)
    this.#setText(at + 16, metadata)
    this.#bytes.copyWithin(at + 24, from, to)
    this.#words[(OPTION + Option.LEVEL_COUNT) / 4] = count + 1
    return NONE
  }

  #setText(at: number, text: string): void {
    const start = this.#levelTextAt
    this.#levelTextAt += this.#bytes.write(text, start)
    this.#words.set([start, text === '' ? 0 : this.#levelTextAt], at / 4)
  }

  #readError(json: string): readonly string[] | undefined {
    const { errorKey, redactor } = this.#options
    const record = createObject()
    const value = parseExact(json) as JsonObject
    record[errorKey] = value
    // The reference path removes such members before it maps the error.
    if (removeSecretMembers(value, redactor.names, true) > 0) return undefined
    const omitted = omitHttpMembers(record, errorKey)
    const parts = takeError(record, errorKey)
    // The reference path reads a missing message from the stack.
    if (parts?.error.message === undefined) return undefined
    const { error, rest } = parts
    const members = stringifyExact(rest)
    // The line does not contain the texts that were composed, such as the URL of an exchange.
    if (mayHaveSecret(members, redactor.names) || redactor.mayMatchUrl(members)) return undefined
    const quoted = (text: string | undefined): string => (text === undefined ? '' : stringifyExact(text))
    return [
      quoted(error.type),
      quoted(error.message),
      quoted(error.stack),
      members.slice(1, -1),
      omitted === 0 ? '' : `"${NOTE_KEY}":{"omitted_http_members":${omitted}}`,
      JSON.stringify(findTopFrame(error) ?? '').slice(1, -1),
    ]
  }

  #joinTags(tags: Json): readonly string[] | undefined {
    if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) return undefined
    const { tags: added } = this.#options
    return [JSON.stringify([...tags, ...added.filter((tag) => !tags.includes(tag))])]
  }
}

function readUser(json: string): readonly string[] | undefined {
  if (!json.startsWith('{') || mayContainExchange(json)) return undefined
  const source = parseExact(json) as JsonObject
  const user: JsonObject = {}
  for (const field of ['id', 'email', 'name']) {
    const text = take(source, [field], toIdText)
    if (text !== undefined) user[field] = text
  }
  if (Object.keys(user).length === 0) return undefined
  return [stringifyExact(user), stringifyExact(source).slice(1, -1)]
}

/** @param text JSON text, or '' */
export function unquote(text: string): string {
  if (text === '') return ''
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1)
}
