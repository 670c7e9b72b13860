/**
 * A typical production mix: of 100 records 90 are lines and requests, 9 are debug lines below the sent level, 1 is an
 * error.
 */
import { error } from './error.mjs'
import { http } from './http.mjs'
import { small } from './small.mjs'
import { hex, pick, text } from './vary.mjs'

/** @param {number} n @returns {import('../shapes.mjs').Call} */
export function mix(n) {
  const place = (n * 37) % 100
  if (place === 0) return error(n)
  if (place < 10) return debug(n)
  return place % 2 === 0 ? small(n) : http(n)
}

/** @param {number} n @returns {import('../shapes.mjs').Call} */
function debug(n) {
  return {
    level: 'debug',
    object: { table: 'orders', rows: pick(n, 600, 90), key: hex(n, 601, 12), query: text(n, 602, 8) },
    message: '[shop] rows read from the database',
    ...(n % 2 === 0 && { bindings: { reqId: `req-${n.toString(36)}` } }),
  }
}
