/** Custom expressions match as in JavaScript, in limited time. */
import { describe, expect, test } from 'vitest'
import { checkExpression } from '../../src/redaction/check-expression.js'
import { CustomPattern } from '../../src/redaction/custom-pattern.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { generate, hardTexts, oneOf, randomFrom } from './random-expressions.js'
import type { Generated } from './random-expressions.js'
import { modelRuns } from '../model-runs.js'

function replace(source: string, text: string): string {
  return new CustomPattern(source).replace(text, '<>')
}

describe('syntax that differs between JavaScript and RE2 means what it means in JavaScript', () => {
  test.each([
    [String.raw`a\sb`, 'a\u00a0b a\ufeffb a\u2003b a\u2028b a\vb', '<> <> <> <> <>'],
    [String.raw`a\Sb`, 'a\u00a0b a\u0085b axb', 'a\u00a0b <> <>'],
    [String.raw`a[\s,]b`, 'a\u00a0b a,b', '<> <>'],
    [String.raw`a[^\S\r\n]b`, 'a\tb a\nb', '<> a\nb'],
    ['a.b', 'a\nb axb', 'a\nb <>'],
    ['/a.b/s', 'a\nb a\rb', '<> <>'],
    ['/^x$/m', 'x\nxx\nx', '<>\nxx\n<>'],
    [String.raw`/^key: \w+$/m`, 'key: abc\r\nx: y\r\nkey: d', '<>\nx: y\r\n<>'],
    ['^x|x$', 'x x\nx x', '<> x\nx <>'],
    [String.raw`\u0041\x42\u{43}\cJ`, 'ABC\n', '<>'],
    ['[😀-😎]', 'x😃y', 'x<>y'],
    ['^.$', '😀', '<>'],
    ['a[^]b', 'a\nb', '<>'],
    ['a[]|b', 'ab', 'a<>'],
    [String.raw`\bé`, 'é aé', 'é a<>'],
    ['(?<name>a)(b)', 'ab', '<>'],
    [String.raw`\p{Lu}\p{Greek}`, 'Aα aα', '<> aα'],
    [String.raw`sk\-live\_x\/y\@z`, 'sk-live_x/y@z', '<>'],
    ['a/b', 'a/b', '<>'],
    ['/a/g', 'aa', '<><>'],
    ['(?i:a)b', 'Ab aB', '<> aB'],
    ['x{', 'x{', '<>'],
    ['x{,5}', 'x{,5} xx', '<> xx'],
    ['[a-]]', 'a] -]', '<> <>'],
    [String.raw`[\w-.]+`, 'a-b.c d', '<> <>'],
    ['[(?:]', '(?:', '<><><>'],
    [String.raw`\0`, 'a\0b', 'a<>b'],
    ['/straße/i', 'STRAßE', '<>'],
    ['/я+/i', 'ЯЯя', '<>'],
  ])('%s', (source, text, replaced) => expect(replace(source, text)).toBe(replaced))
})

const FLAGS = ['', 'i', 'm', 's', 'ms']
const PIECES = [...'ab1 -.é😀\n\u00a0\ufeffAÉ_,z', 'aa', 'ab']
/** A loop whose body may be lazy and empty: JavaScript forbids empty iterations, RE2 does not. */
const LAZY_LOOP = /[*+?}]\?\)[*+?{]/
const LETTERS_OF_OTHERS = /\\[wWbB]/

test('random expressions match what RegExp matches', () => {
  const random = randomFrom(11)
  let matched = 0
  const rounds = modelRuns(200, 2_000)
  for (let round = 0; round < rounds; round += 1) {
    const { source, sample } = generate(random, 3)
    const flags = oneOf(random, FLAGS)
    const literal = `/${source}/${flags}`
    const check = checkExpression(literal)
    if (check.problem !== undefined) {
      expect(check.problem).toMatch(/empty text/)
      continue
    }
    // With the flags i and u, JavaScript counts two letters beyond ASCII as word characters.
    if (LAZY_LOOP.test(source) || (flags === 'i' && LETTERS_OF_OTHERS.test(source))) continue
    const pattern = new CustomPattern(literal)
    const regex = new RegExp(source, `gu${flags}`)
    for (let turn = 0; turn < 4; turn += 1) {
      const pieces = Array.from({ length: Math.floor(random() * 8) }, () => oneOf(random, PIECES))
      const text = (pieces.join('') + (turn % 2 === 0 ? '' : sample(2).slice(0, 8))).toWellFormed()
      const expected = text.replace(regex, '<>')
      if (expected !== text) matched += 1
      expect(pattern.replace(text, '<>'), `${literal} on ${JSON.stringify(text)}`).toBe(expected)
    }
  }
  expect(matched).toBeGreaterThan(rounds)
})

const EXPRESSIONS = modelRuns(14, 1_000)
const HARD_CHARS = 8_000
const MAX_MS = 3_000

function hard(source: string, sample: string): Generated {
  return { source, sample: (rounds) => sample.repeat(rounds) }
}

/** Bypasses of backtracking checks, nested loops, and expressions near the size limit. */
const NASTY: readonly Generated[] = [
  hard(String.raw`sk-(?:[a-z0-9]+-?)+\b`, 'sk-a'),
  hard(String.raw`(\w{1,10}){1,10}\b`, 'a'),
  hard(String.raw`[a-z]+[a-z0-9]*\b`, 'a'),
  hard(String.raw`(a+)+\b`, 'a'),
  hard('[ab]*a[ab]{999}[cd]', 'abbab'),
  hard('(?:a?){700}[cd]', 'a'),
  hard(String.raw`(?:\p{L}?){700}[cd]`, 'é'),
  hard(String.raw`(?:\b\w?){450}[cd]`, 'a '),
  hard('(?:[a-z]{1,27}){1,27}[0-9]', 'a'),
  hard(String.raw`(?:.*,){20}x`, 'a,'),
]

/** CPU time, since the machine may be busy with other tests. */
function cpuMs(work: () => void): number {
  const began = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1_000
}

test(`${EXPRESSIONS} expressions on 8,000 worst-case characters each take at most 3 s`, () => {
  const random = randomFrom(3)
  const expressions = [...NASTY]
  while (expressions.length < EXPRESSIONS) {
    const generated = generate(random, 4, true)
    if (checkExpression(generated.source).problem === undefined) expressions.push(generated)
  }
  const times: { ms: number; source: string }[] = []
  for (const generated of expressions) {
    expect(checkExpression(generated.source).problem, generated.source).toBeUndefined()
    const pattern = new CustomPattern(generated.source)
    for (const text of hardTexts(generated, HARD_CHARS)) {
      times.push({ source: generated.source, ms: cpuMs(() => void pattern.replace(text, '[scrubbed]')) })
    }
  }
  const worst = times.toSorted((one, other) => other.ms - one.ms).slice(0, 5)
  process.stdout.write(`${worst.map(({ ms, source }) => `${ms.toFixed(0)} ms of CPU: ${source}`).join('\n')}\n`)
  expect(worst[0]?.ms).toBeLessThan(MAX_MS)
})

test('when the time of an entry is over, the next match and the text after it are replaced as one', () => {
  expect(new CustomPattern('a').replace('x a b a', '<>', { leftMs: -1 })).toBe('x <>')
})

test('an entry with matches that each read to the end takes a few seconds, and no match is left', () => {
  const match = '-----BEGIN'
  const redactor = new Redactor({ patterns: [String.raw`-----BEGIN(?:[\s\S]*?-----END)?`], keys: [] })
  const texts = Array.from({ length: 50 }, () => `kept ${match.repeat(4_000)}`)
  let clean = ''
  const ms = cpuMs(() => {
    clean = redactor.redactJson(JSON.stringify({ level: 'info', message: 'm', timestamp: 't', metadata: { texts } }))
  })
  const { metadata } = JSON.parse(clean) as { metadata: { texts: string[] } }
  expect(metadata.texts.filter((text) => !/^kept (?:\[scrubbed])+$/.test(text))).toEqual([])
  expect(ms).toBeLessThan(15_000)
})
