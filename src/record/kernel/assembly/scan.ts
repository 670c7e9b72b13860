/** The one pass over a line's bytes: positions of quotes and structural characters, escapes, and possible secrets. */
import { mayFollowParam } from './keys'
import { INDEX } from '../../memory'

/** Position of the newline; 0 if the range has none. */
export let lineEnd: usize = 0
export let textEnd: usize = 0
/** Whether a byte or an escape requires the reference path. */
export let isSuspect: bool = false
export let hasEscape: bool = false
/** Whether a URL may have user info, and whether a URL within a URL may have a parameter or user info that is redacted. */
export let hasUserinfo: bool = false
export let hasPercent: bool = false
/** Longer user info is not read, but assumed. */
const MAX_USERINFO_BYTES: usize = 1_024
/** Positions of words that end the name of a header, and of equals signs. The last position counts if there are more. */
export const MAX_HITS: i32 = 64
export let hits: i32 = 0
const HITS: usize = 0xf000
export function hitAt(i: i32): usize {
  return <usize>load<u32>(HITS + ((<usize>i) << 2))
}

function maskOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>i8x16.bitmask(a) |
    ((<u64>i8x16.bitmask(b)) << 16) |
    ((<u64>i8x16.bitmask(c)) << 32) |
    ((<u64>i8x16.bitmask(d)) << 48)
  )
}

function structural(lower: v128): v128 {
  return v128.or(
    v128.or(i8x16.eq(lower, i8x16.splat(0x7b)), i8x16.eq(lower, i8x16.splat(0x7d))),
    v128.or(i8x16.eq(lower, i8x16.splat(0x3a)), i8x16.eq(lower, i8x16.splat(0x2c))),
  )
}

/**
 * Three bytes of words that end the name of a header: a bit per word, in tables by the low and the high half of each
 * byte. oki oke (cookie, token), cre (secret), key ssw (password), rti (assertion), uth sic (auth, basic), zat
 * (authorization), bea (bearer), and the slashes of a URL. In lower case; `/` and `\` are those after `| 0x20`.
 */
function words(at: usize): v128 {
  const lower = i8x16.splat(0x20)
  const low = i8x16.splat(15)
  const x = v128.or(v128.load(at), lower)
  const y = v128.or(v128.load(at, 1), lower)
  const z = v128.or(v128.load(at, 2), lower)
  // o=6f c=63 k=6b r=72 u=75 s=73 z=7a b=62 :=3a
  const first = v128.and(
    i8x16.swizzle(i8x16(0, 0, 0x48, 0x16, 0, 0x10, 0, 0, 0, 0, -96, 4, 0, 0, 0, 1), v128.and(x, low)),
    i8x16.swizzle(
      i8x16(0, 0, 0, -128, 0, 0, 0x47, 0x3c, 0, 0, 0, 0, 0, 0, 0, 0),
      i16x8.shr_u(v128.and(x, i8x16.splat(-16)), 4),
    ),
  )
  // k=6b r=72 e=65 t=74 i=69 a=61 s=73 /=2f |=7c
  const second = v128.and(
    i8x16.swizzle(i8x16(0, 0x20, 2, 4, 0x18, 0x44, 0, 0, 0, 0x10, 0, 1, -128, 0, 0, -128), v128.and(y, low)),
    i8x16.swizzle(
      i8x16(0, 0, -128, 0, 0, 0, 0x75, -98, 0, 0, 0, 0, 0, 0, 0, 0),
      i16x8.shr_u(v128.and(y, i8x16.splat(-16)), 4),
    ),
  )
  // i=69 e=65 y=79 h=68 c=63 t=74 a=61 w=77 /=2f |=7c
  const third = v128.and(
    i8x16.swizzle(i8x16(0, 0x40, 0, 0x10, 0x20, 3, 0, 4, 0x10, 0x0d, 0, 0, -128, 0, 0, -128), v128.and(z, low)),
    i8x16.swizzle(
      i8x16(0, 0, -128, 0, 0, 0, 0x5b, -92, 0, 0, 0, 0, 0, 0, 0, 0),
      i16x8.shr_u(v128.and(z, i8x16.splat(-16)), 4),
    ),
  )
  return v128.and(v128.and(first, second), third)
}

/**
 * Whether the escape whose letter is at `at` may be copied. Letters, slashes, line breaks and wide characters written as
 * `\\u` escapes may not, since they may hide a key, a secret or a stack frame. pino writes none. Of the forms of an
 * escape, only that of `JSON.stringify` may be copied, so equal texts have equal bytes.
 */
function isPlainEscape(at: usize): bool {
  const letter = load<u8>(at)
  if (
    letter === 0x22 ||
    letter === 0x5c ||
    letter === 0x62 ||
    letter === 0x66 ||
    letter === 0x6e ||
    letter === 0x72 ||
    letter === 0x74
  )
    return true
  if (letter !== 0x75) return false
  let code: u32 = 0
  for (let i: usize = 1; i < 5; i++) {
    const digit = hexDigit(load<u8>(at + i))
    if (digit < 0) return false
    code = (code << 4) | <u32>digit
  }
  return code !== 0 && code < 0x20 && (code < 8 || code > 0xd)
}

function hexDigit(c: u8): i32 {
  if (c >= 0x30 && c <= 0x39) return <i32>c - 0x30
  return c >= 0x61 && c <= 0x66 ? <i32>c - 0x57 : -1
}

/**
 * Indexes one line. @param limit end of the text
 * @returns whether the range has a newline
 */
export function scan(from: usize, limit: usize): bool {
  let inText: u64 = 0
  let escaped: u64 = 0
  let to = INDEX
  let hasControl = false
  lineEnd = 0
  isSuspect = hasEscape = hasUserinfo = hasPercent = false
  hits = 0
  const lower = i8x16.splat(0x20)
  for (let at = from; at < limit; at += 64) {
    const a = v128.load(at)
    const b = v128.load(at, 16)
    const c = v128.load(at, 32)
    const d = v128.load(at, 48)
    let valid: u64 = limit - at < 64 ? ((<u64>1) << (<u64>(limit - at))) - 1 : ~(<u64>0)
    const space = i8x16.splat(0x20)
    let control = valid & maskOf(i8x16.lt_u(a, space), i8x16.lt_u(b, space), i8x16.lt_u(c, space), i8x16.lt_u(d, space))
    let ends: u64 = 0
    if (control) {
      const newline = i8x16.splat(10)
      ends = valid & maskOf(i8x16.eq(a, newline), i8x16.eq(b, newline), i8x16.eq(c, newline), i8x16.eq(d, newline))
      if (ends) {
        lineEnd = at + <usize>ctz(ends)
        valid &= (ends & -ends) - 1
        control &= valid
      }
      if (control && !isReturnOnly(control, at)) hasControl = true
    }
    const quote = i8x16.splat(0x22)
    let quotes = valid & maskOf(i8x16.eq(a, quote), i8x16.eq(b, quote), i8x16.eq(c, quote), i8x16.eq(d, quote))
    const slash = i8x16.splat(0x5c)
    const sa = i8x16.eq(a, slash)
    const sb = i8x16.eq(b, slash)
    const sc = i8x16.eq(c, slash)
    const sd = i8x16.eq(d, slash)
    if (escaped || v128.any_true(v128.or(v128.or(sa, sb), v128.or(sc, sd)))) {
      const slashes = valid & maskOf(sa, sb, sc, sd)
      if (slashes | escaped) hasEscape = true
      let letters = escaped
      let left = slashes & ~escaped
      escaped = 0
      while (left) {
        const i = ctz(left)
        if (!isPlainEscape(at + <usize>i + 1)) isSuspect = true
        if (i === 63) {
          escaped = 1
          break
        }
        letters |= (<u64>1) << (i + 1)
        left &= ~((<u64>3) << i)
      }
      quotes &= ~letters
    }
    let mask = quotes
    mask ^= mask << 1
    mask ^= mask << 2
    mask ^= mask << 4
    mask ^= mask << 8
    mask ^= mask << 16
    mask ^= mask << 32
    mask ^= inText
    inText = <u64>(<i64>mask >> 63)
    const la = v128.or(a, lower)
    const lb = v128.or(b, lower)
    const lc = v128.or(c, lower)
    const ld = v128.or(d, lower)
    let marks = valid & ((maskOf(structural(la), structural(lb), structural(lc), structural(ld)) & ~mask) | quotes)
    while (marks) {
      store<u32>(to, <u32>(at + <usize>ctz(marks)))
      to += 4
      marks &= marks - 1
    }
    const signs = v128.or(v128.or(anySign(a), anySign(b)), v128.or(anySign(c), anySign(d)))
    if (v128.any_true(signs)) findSigns(at, valid, from)
    const wa = words(at)
    const wb = words(at + 16)
    const wc = words(at + 32)
    const wd = words(at + 48)
    if (v128.any_true(v128.or(v128.or(wa, wb), v128.or(wc, wd)))) {
      const none = i8x16.splat(0)
      checkWords(at, valid & ~maskOf(i8x16.eq(wa, none), i8x16.eq(wb, none), i8x16.eq(wc, none), i8x16.eq(wd, none)))
    }
    if (ends) {
      textEnd = lineEnd > from && load<u8>(lineEnd - 1) === 13 ? lineEnd - 1 : lineEnd
      if (hasControl) isSuspect = true
      // Reading beyond the last mark finds none.
      store<u32>(to, <u32>lineEnd)
      store<u32>(to, <u32>lineEnd, 4)
      store<u32>(to, <u32>lineEnd, 8)
      store<u32>(to, <u32>lineEnd, 12)
      return true
    }
  }
  return false
}

/** Whether the only control character is the return before the newline. */
function isReturnOnly(control: u64, at: usize): bool {
  const i = ctz(control)
  return (control & (control - 1)) === 0 && at + <usize>i + 1 === lineEnd && load<u8>(at + <usize>i) === 13
}

function anySign(x: v128): v128 {
  return v128.or(i8x16.eq(x, i8x16.splat(0x3d)), i8x16.eq(x, i8x16.splat(0x25)))
}

function findSigns(at: usize, valid: u64, line: usize): void {
  const a = v128.load(at)
  const b = v128.load(at, 16)
  const c = v128.load(at, 32)
  const d = v128.load(at, 48)
  let left = valid & maskOf(anySign(a), anySign(b), anySign(c), anySign(d))
  while (left) {
    const place = at + <usize>ctz(left)
    if (load<u8>(place) !== 0x25) hit(place)
    else if (!hasPercent && isEncodedSecret(place, line)) hasPercent = true
    left &= left - 1
  }
}

/** Whether the percent sign starts an encoded equals sign after a name, or an encoded colon before slashes, see `nextEncoded` and `ENCODED`. */
function isEncodedSecret(percent: usize, line: usize): bool {
  let at = percent + 1
  while (load<u16>(at) === 0x3532) at += 2
  if (load<u8>(at) !== 0x33) return false
  const digit = load<u8>(at + 1) | 0x20
  const next = load<u8>(at + 2)
  return digit === 0x64 ? mayFollowParam(percent, line) : digit === 0x61 && (next === 0x25 || next === 0x2f)
}

function hit(at: usize): void {
  if (hits < MAX_HITS) {
    store<u32>(HITS + ((<usize>hits) << 2), <u32>at)
    hits++
  } else store<u32>(HITS + ((<usize>(MAX_HITS - 1)) << 2), <u32>at)
}

function lowerAt(at: usize, bytes: u64): u64 {
  return (load<u64>(at) | 0x2020202020202020) & (bytes === 8 ? ~(<u64>0) : ((<u64>1) << (bytes * 8)) - 1)
}

/** Records the words that are names, as `findNextSecret` finds them. */
function checkWords(at: usize, candidates: u64): void {
  let left = candidates
  while (left) {
    const place = at + <usize>ctz(left)
    left &= left - 1
    const first = load<u8>(place) | 0x20
    if (first === 0x3a) {
      if (!hasUserinfo && isBeforeUserinfo(place)) hasUserinfo = true
    } else if (isName(place, first)) hit(place)
  }
}

/**
 * Whether an `@` follows `://` before a character that ends the user info, see `USERINFO`. The slashes may be escaped;
 * an escaped `?` or `#` belongs to the password.
 */
function isBeforeUserinfo(colon: usize): bool {
  let at = colon + 1
  while (load<u8>(at) === 0x2f || load<u8>(at) === 0x5c) at++
  for (const end = at + MAX_USERINFO_BYTES; at < end; at++) {
    const c = load<u8>(at)
    if (c === 0x40) return true
    if (c <= 0x20 || c === 0x2f || ((c === 0x3f || c === 0x23) && load<u8>(at - 1) !== 0x5c)) return false
  }
  return true
}

function isName(at: usize, first: u8): bool {
  if (first === 0x6f) {
    // cookie, token
    if (lowerAt(at - 2, 6) === 0x65696b6f6f63) return endsAfterCookie(at + 4)
    return lowerAt(at - 1, 5) === 0x6e656b6f74 && endsAt(at + 4)
  }
  if (first === 0x63) return lowerAt(at - 1, 5) === 0x7465726365 && endsAt(at + 4) // ecret
  if (first === 0x6b) return lowerAt(at, 3) === 0x79656b && isBeforeKey(at) && endsAt(at + 3)
  if (first === 0x72) return lowerAt(at - 1, 6) === 0x6e6f69747265 && endsAt(at + 5) // ertion
  if (first === 0x75) return lowerAt(at - 1, 4) === 0x68747561 && endsAt(at + 3) // auth
  if (first === 0x73) {
    // password, passwd, basic
    if (lowerAt(at - 2, 8) === 0x64726f7773736170) return endsAt(at + 6)
    if (lowerAt(at - 2, 6) === 0x647773736170) return endsAt(at + 4)
    return lowerAt(at - 2, 5) === 0x6369736162 && endsScheme(at + 3)
  }
  if (first === 0x7a) return lowerAt(at - 1, 7) === 0x6e6f6974617a69 && endsAt(at + 6) // ization
  return first === 0x62 && lowerAt(at, 6) === 0x726572616562 && endsScheme(at + 6) // bearer
}

/** (?:api|uth|ess|ret|ons|nse|ert|ape|ter|tion|ate)[-_.]* */
function isBeforeKey(key: usize): bool {
  let at = key
  while (load<u8>(at - 1) === 0x2d || load<u8>(at - 1) === 0x5f || load<u8>(at - 1) === 0x2e) at--
  const end = <u32>lowerAt(at - 3, 3)
  return (
    end === 0x697061 ||
    end === 0x687475 ||
    end === 0x737365 ||
    end === 0x746572 ||
    end === 0x736e6f ||
    end === 0x65736e ||
    end === 0x747265 ||
    end === 0x657061 ||
    end === 0x726574 ||
    end === 0x657461 ||
    lowerAt(at - 4, 4) === 0x6e6f6974
  )
}

/** cookie(?:_?hash|_?string)? */
function endsAfterCookie(at: usize): bool {
  if (endsAt(at)) return true
  const next = load<u8>(at) === 0x5f ? at + 1 : at
  if (lowerAt(next, 4) === 0x68736168) return endsAt(next + 4)
  return lowerAt(next, 6) === 0x676e69727473 && endsAt(next + 6)
}

/** s?2?, and what may separate the name from its value: see `AFTER_NAME`, and after spaces `SEPARATOR`. */
function endsAt(from: usize): bool {
  let at = from
  if (isAfterName(at)) return true
  if ((load<u8>(at) | 0x20) === 0x73) {
    at++
    if (isAfterName(at)) return true
  }
  return load<u8>(at) === 0x32 && isAfterName(at + 1)
}

function isAfterName(from: usize): bool {
  let at = from
  while (load<u8>(at) === 0x20) at++
  const c = load<u8>(at)
  if (c >= 0x80 || c < 0x20 || c === 0x3a || c === 0x3d || c === 0x2c || c === 0x5c) return true
  return at === from && (c === 0x22 || c === 0x27 || c === 0x60 || c === 0x5d || c === 0x29)
}

function endsScheme(at: usize): bool {
  const c = load<u8>(at)
  return c >= 0x80 || c === 0x20 || c === 0x25 || c === 0x2b || c === 0x5c
}
