/** What custom expressions read of long texts, and what is sent of the rest. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/log-entry.js'
import { Redactor } from '../../src/redaction/redactor.js'

const MAX_CHARS = 10_000
const SECRET = 'sk_live_4711471147114711'
const options = { urlParams: [], maxTextChars: MAX_CHARS }
const redactor = new Redactor({ ...options, patterns: [String.raw`sk_live_\d{16}`] })

function redacted(one: Redactor, more: JsonObject): JsonObject {
  return JSON.parse(
    one.redactJson(JSON.stringify({ level: 'info', message: 'm', timestamp: 't', ...more })),
  ) as JsonObject
}

describe('with a custom expression', () => {
  test('a text within the limit is kept whole', () => {
    const text = `${SECRET}${'a'.repeat(MAX_CHARS - SECRET.length)}`
    expect(redacted(redactor, { message: text })['message']).toBe(text.replace(SECRET, '[scrubbed]'))
  })

  test('a longer one is cut, and says its length', () => {
    const message = redacted(redactor, { message: 'a'.repeat(5_000_000) })['message'] as string
    expect(message.length).toBeLessThanOrEqual(MAX_CHARS + 40)
    expect(message.startsWith('a'.repeat(MAX_CHARS))).toBe(true)
    expect(message).toContain('5000000')
  })

  test('no part of a secret at the cut is left', () => {
    for (let before = MAX_CHARS - 30; before < MAX_CHARS + 30; before += 1) {
      expect(
        redacted(redactor, { message: `${'a'.repeat(before)}${SECRET}${'b'.repeat(20_000)}` })['message'],
      ).not.toMatch(/sk_|4711/)
    }
    // The end of what is read, where a secret is cut in two.
    for (let before = MAX_CHARS + 4_050; before < MAX_CHARS + 4_100; before += 1) {
      expect(
        redacted(redactor, { message: `${'a'.repeat(before)}${SECRET}${'b'.repeat(20_000)}` })['message'],
      ).not.toMatch(/sk_|4711/)
    }
  })

  test('of many texts, those beyond twice the limit are not sent unread', () => {
    const list = Array.from({ length: 1_000 }, (_, n) => `${n} ${'a'.repeat(90)} ${SECRET}`)
    const clean = redacted(redactor, { error: { type: 'E', message: SECRET }, metadata: { list } })
    const texts = (clean['metadata'] as { list: string[] }).list
    expect(clean['error']).toEqual({ type: 'E', message: '[scrubbed]' })
    expect(texts).toHaveLength(1_000)
    expect(texts[0]).toBe(list[0]?.replace(SECRET, '[scrubbed]'))
    expect(texts[999]).toContain('characters')
    expect(JSON.stringify(clean)).not.toMatch(/4711/)
  })

  test('half of a character is not left at the cut', () => {
    expect((redacted(redactor, { message: `a${'😀'.repeat(20_000)}` })['message'] as string).isWellFormed()).toBe(true)
  })
})

test('without one, nothing is cut', () => {
  const text = `bob@example.com ${'a'.repeat(50_000)}`
  expect(redacted(new Redactor({ ...options, patterns: ['email'] }), { message: text })['message']).toBe(
    text.replace('bob@example.com', '[email]'),
  )
})
