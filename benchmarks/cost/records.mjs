/**
 * Records of a given size, width or depth, or with a number of breadcrumbs per error. Ids and texts vary as in
 * `../tools/shapes.mjs`.
 */
import { SHAPES, ofRequest } from '../tools/shapes.mjs'

/** @typedef {import('../tools/shapes.mjs').Call} Call */

/** The number of different records, enough to defeat caches; they are logged repeatedly. */
const PERIOD = 1_000
/** The limit for large records, which the app keeps in memory. */
const MOST_CHARS = 8 * 1024 * 1024
const WORDS =
  'the order of a customer was sent to payment "later" because no reply came within the time that is allowed '
const CYRILLIC = 'заказ клиента отправлен на оплату позже так как ответ не пришёл вовремя '

/**
 * @typedef {{ kind: 'message' | 'value', chars: number, text?: 'latin' | 'cyrillic' }
 *   | { kind: 'width', keys: number }
 *   | { kind: 'depth', levels: number }
 *   | { kind: 'breadcrumbs', perError: number, oneErrorIn: number }
 *   | { kind: 'shape', shape: import('../tools/shapes.mjs').Shape }} Recipe
 */

/** @param {Recipe} recipe @returns {readonly Call[]} one period */
export function recordsOf(recipe) {
  switch (recipe.kind) {
    case 'message':
      return period(recipe.chars, (n) => ({
        level: 'info',
        object: { orderId: 100_000 + n },
        message: textOf(n, recipe.chars, recipe.text),
      }))
    case 'value':
      return period(recipe.chars, (n) => ({
        level: 'info',
        object: { orderId: 100_000 + n, body: textOf(n, recipe.chars, recipe.text) },
        message: 'order placed',
      }))
    case 'width':
      return period(0, (n) => ({ level: 'info', object: keys(n, recipe.keys), message: 'order placed' }))
    case 'depth':
      return period(0, (n) => ({ level: 'info', object: { order: nested(n, recipe.levels) }, message: 'order placed' }))
    case 'breadcrumbs':
      return withCrumbs(recipe)
    case 'shape':
      return period(0, SHAPES[recipe.shape].make)
  }
}

/** @param {number} chars @param {(n: number) => Call} make */
function period(chars, make) {
  const records = Math.max(10, Math.min(PERIOD, Math.floor(MOST_CHARS / Math.max(chars, 1))))
  return Array.from({ length: records }, (_, n) => make(n))
}

/** @param {number} n @param {number} chars @param {'latin' | 'cyrillic'} [text] */
function textOf(n, chars, text = 'latin') {
  const words = text === 'latin' ? WORDS : CYRILLIC
  return `${n} ${words.repeat(Math.ceil(chars / words.length))}`.slice(0, chars)
}

/** Texts, numbers and flags alternate. @param {number} n @param {number} count */
function keys(n, count) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `field${at}`,
      [`value ${n + at}`, n * 31 + at, (n + at) % 3 === 0][at % 3],
    ]),
  )
}

/** @param {number} n @param {number} levels @returns {unknown} */
function nested(n, levels) {
  return levels === 1 ? { id: n, state: 'open' } : { id: n, inner: nested(n + 1, levels - 1) }
}

/**
 * Of 100 concurrent requests, one in `oneErrorIn` ends with an error after `perError` lines below the sent level;
 * each other request logs only its end.
 *
 * @param {{ perError: number, oneErrorIn: number }} recipe
 */
function withCrumbs({ perError, oneErrorIn }) {
  return Array.from({ length: PERIOD }, (_, n) => n).flatMap((n) => {
    const reqId = `req-${n}`
    if (n % oneErrorIn !== 0) return [ofRequest(reqId, SHAPES.small.make(n))]
    const led = Array.from(
      { length: perError },
      (_, step) =>
        /** @type {Call} */ ({
          level: 'debug',
          object: { reqId, step, table: 'orders' },
          message: 'row read from the database',
        }),
    )
    return [...led, ofRequest(reqId, SHAPES.error.make(n))]
  })
}
