/** The part of long texts that custom expressions read, and the part that is sent. */
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
  test('keeps a text within the limit', () => {
    const text = `${SECRET}${'a'.repeat(MAX_CHARS - SECRET.length)}`
    expect(redacted(redactor, { message: text })['message']).toBe(text.replace(SECRET, '[scrubbed]'))
  })

  test('cuts a longer text, and adds its length', () => {
    const message = redacted(redactor, { message: 'a'.repeat(5_000_000) })['message'] as string
    expect(message.length).toBeLessThanOrEqual(MAX_CHARS + 40)
    expect(message.startsWith('a'.repeat(MAX_CHARS))).toBe(true)
    expect(message).toContain('5000000')
  })

  test('leaves no part of a secret at the cut', () => {
    for (let before = MAX_CHARS - 30; before < MAX_CHARS + 30; before += 1) {
      expect(
        redacted(redactor, { message: `${'a'.repeat(before)}${SECRET}${'b'.repeat(20_000)}` })['message'],
      ).not.toMatch(/sk_|4711/)
    }
    // A secret that the end of the read part divides.
    for (let before = MAX_CHARS + 4_050; before < MAX_CHARS + 4_100; before += 1) {
      expect(
        redacted(redactor, { message: `${'a'.repeat(before)}${SECRET}${'b'.repeat(20_000)}` })['message'],
      ).not.toMatch(/sk_|4711/)
    }
  })

  test('does not send texts unread beyond twice the limit', () => {
    const list = Array.from({ length: 1_000 }, (_, n) => `${n} ${'a'.repeat(90)} ${SECRET}`)
    const clean = redacted(redactor, { error: { type: 'E', message: SECRET }, metadata: { list } })
    const texts = (clean['metadata'] as { list: string[] }).list
    expect(clean['error']).toEqual({ type: 'E', message: '[scrubbed]' })
    expect(texts).toHaveLength(1_000)
    expect(texts[0]).toBe(list[0]?.replace(SECRET, '[scrubbed]'))
    expect(texts[999]).toContain('characters')
    expect(JSON.stringify(clean)).not.toMatch(/4711/)
  })

  test('leaves no half of a surrogate pair at the cut', () => {
    expect((redacted(redactor, { message: `a${'😀'.repeat(20_000)}` })['message'] as string).isWellFormed()).toBe(true)
  })
})

test('cuts nothing without a custom expression', () => {
  const text = `bob@example.com ${'a'.repeat(50_000)}`
  expect(redacted(new Redactor({ ...options, patterns: ['email'] }), { message: text })['message']).toBe(
    text.replace('bob@example.com', '[email]'),
  )
})
