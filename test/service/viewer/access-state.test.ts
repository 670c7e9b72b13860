/** The token of the page: parsing, and protection of an accepted token against replacement by other web pages. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  markEntered,
  markRefused,
  markAccepted,
  markReceived,
  hasOtherToken,
  isOnTrial,
  NO_ACCESS,
  parsePastedToken,
  findTokenIn,
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
    expect(findTokenIn(text)).toBe(token)
  })

  test.each([
    [`  ${NEW}\n`, NEW],
    [` http://127.0.0.1:4319/#token=${NEW} `, NEW],
    ['not a token!', null],
    ['short', null],
    [`${NEW} ${NEW}`, null],
    ['http://127.0.0.1:4319/#token=short', null],
  ])('pasted as %j', (text, token) => {
    expect(parsePastedToken(text)).toBe(token)
  })
})

describe('a new token', () => {
  test('is tried, and replaces the accepted token when the service accepts it', () => {
    const tried = markEntered(inUse, NEW)
    expect(tried).toEqual({ token: NEW, isRefused: false, accepted: OLD })
    expect(isOnTrial(tried, NEW)).toBe(true)
    expect(markAccepted(tried, NEW)).toEqual({ token: NEW, isRefused: false, accepted: NEW })
  })

  test('is replaced by the stored one when the service refuses it', () => {
    const tried = markEntered(inUse, NEW)
    expect([tried.accepted, hasOtherToken(tried, NEW, OLD)]).toEqual([OLD, true])
  })

  test('that is refused requires another token if none was accepted', () => {
    const tried = markEntered(NO_ACCESS, NEW)
    expect(hasOtherToken(tried, NEW, null)).toBe(false)
    expect(markRefused(tried, NEW)).toEqual({ token: NEW, isRefused: true, accepted: null })
  })

  test('that is already accepted needs no trial', () => {
    expect(isOnTrial(markEntered(inUse, OLD), OLD)).toBe(false)
    expect(markEntered(markRefused(inUse, OLD), OLD)).toEqual(inUse)
  })
})

test('an accepted token that the service no longer accepts is refused', () => {
  expect(hasOtherToken(inUse, OLD, OLD)).toBe(false)
  expect(markRefused(inUse, OLD)).toEqual({ ...inUse, isRefused: true })
})

test('a reply to a previous token does not affect the current one', () => {
  const tried = markEntered(inUse, NEW)
  expect([markRefused(tried, OLD), markAccepted(tried, OLD), hasOtherToken(tried, OLD, NEW)]).toEqual([
    tried,
    tried,
    false,
  ])
  expect(markAccepted(inUse, NEW)).toBe(inUse)
  // One reply refused it; an earlier, late reply accepts it.
  expect(markAccepted(markRefused(tried, NEW), NEW).isRefused).toBe(true)
})

describe('a token stored by another tab', () => {
  test('is used in this tab too', () => {
    const used = { token: NEW, isRefused: false, accepted: NEW }
    for (const before of [NO_ACCESS, inUse, markRefused(inUse, OLD)]) expect(markReceived(before, NEW)).toEqual(used)
  })

  test('waits until the service has accepted or refused the token being tried', () => {
    const tried = markReceived(markEntered(NO_ACCESS, 'third-token_of-22-lett'), OLD)
    expect(tried).toEqual({ token: 'third-token_of-22-lett', isRefused: false, accepted: OLD })
    expect(hasOtherToken(tried, tried.token, OLD)).toBe(true)
  })
})

test('for any sequence of addresses, exactly the tokens that the service accepted become accepted', () => {
  const step = fc.record({
    hash: fc.oneof(fc.stringMatching(/^[a-z]{16,20}$/), fc.string(), fc.constant(OLD)).map((text) => `#token=${text}`),
    isJudged: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let access = inUse
      for (const { hash, isJudged } of steps) {
        const given = findTokenIn(hash)
        if (given !== null) access = markEntered(access, given)
        const sent = access.token ?? ''
        if (isJudged && sent === OLD) access = markAccepted(access, sent)
        // The state after a reload.
        else if (isJudged)
          access = hasOtherToken(access, sent, access.accepted)
            ? markReceived(NO_ACCESS, access.accepted ?? '')
            : markRefused(access, sent)
        expect(access.accepted).toBe(OLD)
        if (isJudged) expect(access).toEqual(inUse)
      }
    }),
  )
})
