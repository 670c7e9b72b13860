/**
 * [worker] The patterns of `scrubPatterns`: built-in ones and the user's expressions. All take linear time; the
 * built-in patterns search for a rare character first.
 */
import { mayContainCard, redactCards } from './credit-card.js'
import { CustomPattern } from './custom-pattern.js'
import type { SearchTime } from './custom-pattern.js'
import { redactEmails } from './email.js'

export const BUILT_INS = ['email', 'creditCard', 'ssn', 'bearer'] as const

export type BuiltIn = (typeof BUILT_INS)[number]

export interface Pattern {
  /** Whether `redact` may change JSON text without escaped letters: false positives, no false negatives. */
  mayMatch(json: string): boolean
  redact(text: string, time?: SearchTime): string
  readonly matchesNumbers: boolean
}

/** @throws Error for an invalid expression, see `checkExpression` */
export function createPattern(source: string): Pattern {
  return Object.hasOwn(BUILT_IN, source) ? BUILT_IN[source as BuiltIn] : custom(source)
}

const BUILT_IN: Readonly<Record<BuiltIn, Pattern>> = {
  email: {
    mayMatch: (json) => redactEmails(json, '') !== json,
    redact: (text) => redactEmails(text, '[email]'),
    matchesNumbers: false,
  },
  creditCard: {
    mayMatch: mayContainCard,
    redact: (text) => redactCards(text, '[creditCard]'),
    matchesNumbers: true,
  },
  ssn: {
    mayMatch: (json) => /\d\d\d[ -]\d\d[ -]\d{4}/.test(json),
    redact: (text) => text.replace(SSN, '[ssn]'),
    matchesNumbers: false,
  },
  bearer: { mayMatch: (json) => json.includes('eyJ'), redact: scrubTokens, matchesNumbers: false },
}

/** Without numbers that are never issued: area 000, 666 and from 900, group 00, serial 0000 (Social Security Administration, POMS RM 10201.035). */
const SSN = /(?<![\dA-Za-z]|\d-)(?!000|666|9)\d{3}([ -])(?!00)\d{2}\1(?!0000)\d{4}(?![\dA-Za-z]|-\d)/g

/** RFC 7519: three parts, or five if it is encrypted (RFC 7516), the first beginning with `{"`. */
const JWT_HEAD = /eyJ/g
const JWT_PART = /[\w-]*/y

function scrubTokens(text: string): string {
  let clean = ''
  let copied = 0
  JWT_HEAD.lastIndex = 0
  for (let head = JWT_HEAD.exec(text); head !== null; head = JWT_HEAD.exec(text)) {
    let end = partEnd(text, head.index)
    // A token that starts within this run ends with it, so the next search starts after it.
    JWT_HEAD.lastIndex = end
    const second = partEnd(text, end + 1)
    const isEncrypted = second === end + 1 // without a key of its own
    let dots = 0
    while (dots < 4 && text[end] === '.') {
      dots += 1
      end = partEnd(text, end + 1)
    }
    if (dots < (isEncrypted ? 4 : 2)) continue
    clean += `${text.slice(copied, head.index)}[bearer]`
    copied = JWT_HEAD.lastIndex = end
  }
  return copied === 0 ? text : clean + text.slice(copied)
}

function partEnd(text: string, from: number): number {
  JWT_PART.lastIndex = from
  JWT_PART.test(text)
  return JWT_PART.lastIndex
}

function custom(source: string): Pattern {
  const pattern = new CustomPattern(source)
  return {
    mayMatch: () => true,
    redact: (text, time) => pattern.replace(text, '[scrubbed]', time),
    matchesNumbers: false,
  }
}
