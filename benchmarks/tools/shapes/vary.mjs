/** Variation that depends only on a record's number, so every run and every subject has the same records. */

/** @param {number} n @param {number} salt @returns {number} a pseudo-random integer below 2^32 */
function hash(n, salt) {
  let x = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d)
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39)
  return (x ^ (x >>> 15)) >>> 0
}

/** @param {number} n @param {number} salt @param {number} limit @returns {number} from 0 to below `limit` */
export function pick(n, salt, limit) {
  return hash(n, salt) % limit
}

/** @template T @param {number} n @param {number} salt @param {readonly T[]} list @returns {T} */
export function oneOf(n, salt, list) {
  return /** @type {T} */ (list[pick(n, salt, list.length)])
}

/** @param {number} n @param {number} salt @param {number} percent */
export function chance(n, salt, percent) {
  return pick(n, salt, 100) < percent
}

/** @param {number} n @param {number} salt @param {number} length */
export function hex(n, salt, length) {
  let digits = ''
  for (let at = 0; digits.length < length; at += 1)
    digits += hash(n, salt * 31 + at)
      .toString(16)
      .padStart(8, '0')
  return digits.slice(0, length)
}

/** @param {number} n @param {number} salt */
export function uuid(n, salt) {
  const digits = hex(n, salt, 32)
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`
}

/** The fields that @opentelemetry/instrumentation-pino adds. @param {number} n */
export function traceIds(n) {
  return { trace_id: hex(n, 901, 32), span_id: hex(n, 902, 16), trace_flags: '01' }
}

const WORDS =
  'order customer cart invoice payment was sent to from the warehouse because no reply came within time that is allowed stock reserved retry next page cache miss row updated'.split(
    ' ',
  )
/** Text that needs escapes in JSON, or more than one byte per character. */
const SPECIAL = [
  'the customer said "call back"',
  'C:\\exports\\2026\\orders.csv',
  'first line\nsecond line\ttabbed',
  'Zoë Müller, Łódź',
  'заказ отправлен',
  '注文を受け付けました',
  'thanks 🙏 see you',
  "it's 5 €, not <b>7</b>",
]

/** 6 in 100 are special texts. @param {number} n @param {number} salt @param {number} words */
export function text(n, salt, words) {
  const list = Array.from({ length: words }, (_, at) => oneOf(n, salt * 17 + at, WORDS))
  if (chance(n, salt + 1, 6)) list.splice(words >> 1, 0, special(n, salt))
  return list.join(' ')
}

/** @param {number} n @param {number} salt */
export function special(n, salt) {
  return oneOf(n, salt + 2, SPECIAL)
}
