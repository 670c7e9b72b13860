/** The token of the page: what is taken for one, and that no web page can put another in the place of one that the service took. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  afterGiven,
  afterRefused,
  afterTaken,
  withReceivedToken,
  hasOther,
  isOnTrial,
  NO_ACCESS,
  pastedToken,
  tokenIn,
} from '../../../src/service/viewer/access-state.js'
import type { Access } from '../../../src/service/viewer/access-state.js'

const OLD = 'old-token_of-22-letter'
const NEW = 'new-token_of-22-letter'
/** A tab in use. */
const inUse: Access = { token: OLD, isRefused: false, accepted: OLD }

describe('a token', () => {
  test.each([
    [`#token=${NEW}`, NEW],
    [`http://127.0.0.1:4319/#token=${NEW}`, NEW],
    [`http://127.0.0.1:4319/?q=a&token=${NEW}#other`, NEW],
    [`#token=${'a'.repeat(16)}`, 'a'.repeat(16)],
    [`#token=${'a'.repeat(512)}`, 'a'.repeat(512)],
    [`#token=${'a'.repeat(15)}`, null],
    [`#token=${'a'.repeat(513)}`, null],
    ['#token=x', null],
    ['#token=', null],
    [`#token=${NEW}%20x`, null],
    [`#token=${NEW}<script>`, null],
    [`#mytoken=${NEW}`, null],
    [NEW, null],
    ['', null],
  ])('in %j', (text, token) => {
    expect(tokenIn(text)).toBe(token)
  })

  test.each([
    [`  ${NEW}\n`, NEW],
    [` http://127.0.0.1:4319/#token=${NEW} `, NEW],
    ['not a token!', null],
    ['short', null],
    [`${NEW} ${NEW}`, null],
    ['http://127.0.0.1:4319/#token=short', null],
  ])('pasted as %j', (text, token) => {
    expect(pastedToken(text)).toBe(token)
  })
})

describe('one that is given', () => {
  test('is tried, and replaces the accepted one when the service accepts it', () => {
    const tried = afterGiven(inUse, NEW)
    expect(tried).toEqual({ token: NEW, isRefused: false, accepted: OLD })
    expect(isOnTrial(tried, NEW)).toBe(true)
    expect(afterTaken(tried, NEW)).toEqual({ token: NEW, isRefused: false, accepted: NEW })
  })

  test('is replaced by the stored one when the service refuses it', () => {
    const tried = afterGiven(inUse, NEW)
    expect([tried.accepted, hasOther(tried, NEW, OLD)]).toEqual([OLD, true])
  })

  test('and is refused requires a new one if none was accepted', () => {
    const tried = afterGiven(NO_ACCESS, NEW)
    expect(hasOther(tried, NEW, null)).toBe(false)
    expect(afterRefused(tried, NEW)).toEqual({ token: NEW, isRefused: true, accepted: null })
  })

  test('that is the accepted one anyway needs no trial', () => {
    expect(isOnTrial(afterGiven(inUse, OLD), OLD)).toBe(false)
    expect(afterGiven(afterRefused(inUse, OLD), OLD)).toEqual(inUse)
  })
})

test('an accepted one that the service does not know any more is refused: there is no other', () => {
  expect(hasOther(inUse, OLD, OLD)).toBe(false)
  expect(afterRefused(inUse, OLD)).toEqual({ ...inUse, isRefused: true })
})

test('an answer to what was sent before says nothing about what is sent now', () => {
  const tried = afterGiven(inUse, NEW)
  expect([afterRefused(tried, OLD), afterTaken(tried, OLD), hasOther(tried, OLD, NEW)]).toEqual([tried, tried, false])
  expect(afterTaken(inUse, NEW)).toBe(inUse)
  // Refused by one answer, taken by an earlier one that came late.
  expect(afterTaken(afterRefused(tried, NEW), NEW).isRefused).toBe(true)
})

describe('one that another tab stored', () => {
  test('is used here too', () => {
    const used = { token: NEW, isRefused: false, accepted: NEW }
    for (const before of [NO_ACCESS, inUse, afterRefused(inUse, OLD)])
      expect(withReceivedToken(before, NEW)).toEqual(used)
  })

  test('waits until one that is on trial here is judged', () => {
    const tried = withReceivedToken(afterGiven(NO_ACCESS, 'third-token_of-22-lett'), OLD)
    expect(tried).toEqual({ token: 'third-token_of-22-lett', isRefused: false, accepted: OLD })
    expect(hasOther(tried, tried.token, OLD)).toBe(true)
  })
})

test('whatever addresses are opened, what the service takes stays accepted, and only what it took ever is', () => {
  const step = fc.record({
    hash: fc.oneof(fc.stringMatching(/^[a-z]{16,20}$/), fc.string(), fc.constant(OLD)).map((text) => `#token=${text}`),
    isJudged: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let access = inUse
      for (const { hash, isJudged } of steps) {
        const given = tokenIn(hash)
        if (given !== null) access = afterGiven(access, given)
        const sent = access.token ?? ''
        if (isJudged && sent === OLD) access = afterTaken(access, sent)
        // What the page is after it has begun anew.
        else if (isJudged)
          access = hasOther(access, sent, access.accepted)
            ? withReceivedToken(NO_ACCESS, access.accepted ?? '')
            : afterRefused(access, sent)
        expect(access.accepted).toBe(OLD)
        if (isJudged) expect(access).toEqual(inUse)
      }
    }),
  )
})
