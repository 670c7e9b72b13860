import { describe, expect, it } from 'vitest'
import type { DeadLetter } from '../../src/batch/batch.js'
import { decodeDeadLetter, encodeDeadLetter } from '../../src/nats/dead-letter.js'
import { toStreamNames } from '../../src/nats/message.js'

const NAMES = toStreamNames({ stream: 'S', subject: 'app.x' })
const LETTER: DeadLetter = {
  batchId: '11111111-2222-4333-8444-555555555555',
  index: 7,
  status: 422,
  code: 'INVALID',
  field: 'metadata.a',
  reason: 'must be a string',
  entry: '{"message":"größer","big":12345678901234567890}',
}

function decode({ headers, body }: ReturnType<typeof encodeDeadLetter>): DeadLetter {
  const values = new Map(headers)
  return decodeDeadLetter({ get: (name) => values.get(name) ?? '' }, body)
}

describe('a dead letter as a message', () => {
  it('survives a round trip; the message ID contains the index', () => {
    const message = encodeDeadLetter(NAMES, 'requests', LETTER)
    expect(message.subject).toBe('app.x.dead.requests')
    expect(new Map(message.headers).get('Nats-Msg-Id')).toBe(`${LETTER.batchId}-7`)
    expect(decode(message)).toEqual(LETTER)
  })

  it('has headers of printable ASCII for any text of the service or another publisher', () => {
    const reason = 'a\r\nNats-Rollup: all\r\n\u0000\u001b[31m ü 😀 % '
    const letter = { ...LETTER, batchId: 'x y\n', reason, code: 'ß', field: '\t' }
    const message = encodeDeadLetter(NAMES, 'logs', letter)
    for (const [, value] of message.headers) expect(value).toMatch(/^[!-~]*$/)
    expect(decode(message)).toEqual(letter)
  })

  it('limits the reason, even within a surrogate pair', () => {
    const { headers } = encodeDeadLetter(NAMES, 'logs', {
      ...LETTER,
      reason: `${'r'.repeat(1_023)}😀${'r'.repeat(1e6)}`,
    })
    expect(decode({ subject: '', messageId: '', headers, body: Buffer.from('{}') }).reason).toBe(
      `${'r'.repeat(1_023)}\ufffd`,
    )
  })

  it('keeps the bytes of a message that is not a batch', () => {
    expect(encodeDeadLetter(NAMES, 'logs', { ...LETTER, entry: '' }, Buffer.from([0xff, 0])).body).toEqual(
      Buffer.from([0xff, 0]),
    )
  })

  it('has different message IDs for different messages with the same id', () => {
    const idOf = (body: string): string => encodeDeadLetter(NAMES, 'logs', LETTER, Buffer.from(body)).messageId
    expect(idOf('one')).toBe(idOf('one'))
    expect(idOf('one')).not.toBe(idOf('two'))
  })

  it('is readable with missing or damaged headers', () => {
    const empty = { batchId: '', index: 0, status: 0, code: '', field: '', reason: '', entry: '{}' }
    expect(decodeDeadLetter(undefined, Buffer.from('{}'))).toEqual(empty)
    const damaged = {
      get: (name: string) => (name.endsWith('Reason') ? '%E0%A4%A' : name.endsWith('Index') ? '-3' : ''),
    }
    expect(decodeDeadLetter(damaged, Buffer.from('{}'))).toEqual({ ...empty, reason: '%E0%A4%A' })
  })
})
