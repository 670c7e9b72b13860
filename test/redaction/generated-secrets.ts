/** Log calls and lines of text that contain the secrets of `leaks.ts`: a form and a place are combined at random. */
import { inspect } from 'node:util'
import { KEYS, SPELLINGS, keyLeaks, leaks } from './leaks.js'

export interface GeneratedSecret {
  /** Occurs in nothing else; if it arrives, the case leaked */
  readonly token: string
  /** Form and position, for the report */
  readonly kind: string
  /** Whether the form must be removed at this place */
  readonly promised: boolean
  /** Arguments of a logger's method, or a text for the pipe */
  readonly log?: readonly unknown[]
  readonly text?: string
}

const TOKEN = /zq7[a-z0-9]{6}/g
export const findTokens = (text: string): string[] => text.match(TOKEN) ?? []

class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }
  /** A name and what its function makes */
  make<T>(makers: Readonly<Record<string, () => T>>): [name: string, made: T] {
    const [name, make] = this.pick(Object.entries(makers))
    return [name, make()]
  }
  chance(share: number): boolean {
    return this.next() < share
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }
}

/** A text at any place of a log call */
function placeText(random: Random, text: string): [string, unknown[]] {
  const error = (): Error => new Error(text)
  const places: Record<string, () => unknown[]> = {
    message: () => [text],
    interpolated: () => ['failed: %s', text],
    errMessage: () => [error()],
    stack: () => [
      { err: Object.assign(new Error('failed'), { stack: `Error: failed\n${text}\n    at run (/app/a.js:1:2)` }) },
    ],
    cause: () => [{ err: new Error('outer', { cause: error() }) }],
    aggregate: () => [{ err: new AggregateError([new Error('a'), error()], 'all failed') }],
    errMember: () => [{ err: Object.assign(new Error('failed'), { code: 'E', detail: text }) }],
    member: () => [
      { [random.pick(['note', 'output', 'stderr', 'body', 'details', 'reason', 'command', 'line', 'cmd'])]: text },
      'done',
    ],
    deep: () => [{ a: { b: [{ c: [[text]] }] } }, 'done'],
    key: () => [{ map: { [text]: 1 } }],
    json: () => [{ payload: JSON.stringify({ text }) }],
    user: () => [{ user: { id: text, email: text, name: text } }],
    mapped: () => [
      {
        [random.pick([
          ...['source', 'trace_id', 'reqId', 'service', 'environment', 'release_id', 'tags', 'userId', 'type', 'name'],
          ...['version', 'stack', 'url', 'method', 'route', 'session_id', 'span', 'trace'],
        ])]: text,
      },
      'mapped',
    ],
    ecs: () => [
      {
        error: { message: text, type: 'E', stack_trace: text },
        'http.route': text,
        'url.full': text,
        labels: { a: text },
      },
    ],
    request: () => [
      { req: { method: 'GET', url: text, headers: { 'user-agent': text } }, res: { statusCode: 200 }, responseTime: 3 },
      'request completed',
    ],
    truncatedLate: () => [{ filler: 'f'.repeat(random.pick([100, 9000, 60_000])), text }, 'long'],
  }
  return random.make(places)
}

function placeMembers(random: Random, members: Record<string, unknown>): [string, unknown[]] {
  const places: Record<string, () => unknown[]> = {
    top: () => [members, 'done'],
    err: () => [{ err: Object.assign(new Error('failed'), members) }],
    cause: () => [{ err: new Error('outer', { cause: Object.assign(new Error('inner'), members) }) }],
    deep: () => [{ a: { b: { c: { d: { e: { f: [[members]] } } } } } }],
    json: () => [{ payload: JSON.stringify(members) }],
    format: () => ['sent %j', members],
    user: () => [{ user: { id: 'u', ...members } }],
  }
  return random.make(places)
}

/** A text as it comes through a pipe: one of another program, or a record of another logger */
function pipeText(random: Random, text: string): [string, string] {
  const places: Record<string, () => string> = {
    raw: () => text,
    message: () => JSON.stringify({ level: 'info', message: text }),
    printed: () => `saved ${inspect({ id: 1, text }, { depth: 9 })}`,
    stack: () =>
      `Error: ${text.replaceAll(/\r?\n/g, ' ')}\n    at run (/app/a.js:1:2)\n    at next (/app/b.js:2:3) {\n  code: 'E'\n}`,
    cut: () => JSON.stringify({ level: 30, msg: text, tail: 'x'.repeat(80) }).slice(0, -random.pick([3, 30, 70])),
  }
  return random.make(places)
}

/** May be kept in a text: a value before its name, and a list of a name and several values */
const NOT_PROMISED = /(?:express-validator|pairs)@(?:json|format)$/

export function* generateSecrets(seed: number, count: number): Generator<GeneratedSecret> {
  const random = new Random(seed)
  let marks = 0
  const mark = (): string => `zq7${(marks += 1).toString(36).padStart(6, '0')}x9k`
  const key = (): string => random.pick(SPELLINGS)(random.pick(KEYS))
  for (let left = count; left > 0;) {
    for (const { source, value } of [...leaks(mark), ...keyLeaks(mark, key)]) {
      const [place, placed] =
        typeof value !== 'string'
          ? placeMembers(random, Array.isArray(value) ? { list: value } : (value as Record<string, unknown>))
          : random.chance(0.35)
            ? pipeText(random, value)
            : placeText(random, value)
      const kind = `${source}@${place}`
      const [token = ''] = findTokens(JSON.stringify(value))
      yield {
        token,
        kind,
        promised: !NOT_PROMISED.test(kind),
        ...(typeof placed === 'string' ? { text: placed } : { log: placed }),
      }
      if ((left -= 1) === 0) return
    }
  }
}
