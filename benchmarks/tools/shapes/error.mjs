/** Errors: short and long stacks, causes, aggregates, and the properties added by clients of databases and services. */
import { chance, hex, oneOf, pick, special, text, traceIds, uuid } from './vary.mjs'

/** @typedef {import('../shapes.mjs').Call} Call */

const OWN = [
  'PaymentGateway.charge (/srv/app/src/payment/gateway.js:%:17)',
  'async Checkout.pay (/srv/app/src/checkout/checkout.js:%:22)',
  'async Checkout.complete (/srv/app/src/checkout/checkout.js:%:5)',
  'async postOrder (/srv/app/src/routes/orders.js:%:20)',
  'async Object.withTransaction (/srv/app/src/database/transaction.js:%:18)',
  'new OrderRepository (file:///srv/app/dist/orders/order-repository.mjs:%:11)',
  'async Promise.all (index %)',
  '/srv/app/src/jobs/nightly.ts:%:3',
  'async authenticate (/srv/app/src/middleware/authenticate.js:%:7)',
  'async Server.onRequest (/srv/app/src/server.js:%:14)',
]
const LIBRARY = [
  'async handle (/srv/app/node_modules/router/lib/layer.js:%:9)',
  'async next (/srv/app/node_modules/router/lib/route.js:%:13)',
  'async Route.dispatch (/srv/app/node_modules/router/lib/route.js:%:3)',
  'Client.<anonymous> (/srv/app/node_modules/pg/lib/client.js:%:17)',
  'Parser.handlePacket (/srv/app/node_modules/.pnpm/pg-protocol@1.9.5/node_modules/pg-protocol/dist/parser.js:%:29)',
  'async RedirectableRequest.emit (/srv/app/node_modules/follow-redirects/index.js:%:21)',
]
const NODE = [
  'TLSSocket.emit (node:events:%:28)',
  'addChunk (node:internal/streams/readable:%:12)',
  'Readable.push (node:internal/streams/readable:%:5)',
  'TCP.onStreamRead (node:internal/stream_base_commons:%:23)',
  'process.processTicksAndRejections (node:internal/process/task_queues:%:5)',
]
const MESSAGES = ['payment failed', 'request errored', 'job failed', 'could not save the order', 'unhandled error']

/** @param {number} n @returns {Call} */
export function error(n) {
  return {
    level: 'error',
    object: {
      err: errorOf(n),
      ...(chance(n, 401, 60) && { orderId: 100_000 + n }),
      ...(chance(n, 402, 40) && traceIds(n)),
      ...(chance(n, 403, 10) && {
        context: { step: oneOf(n, 404, ['reserve', 'charge', 'ship']), input: text(n, 405, 30) },
      }),
    },
    message: `[shop] ${oneOf(n, 406, MESSAGES)}`,
    ...(chance(n, 407, 50) && {
      bindings: { module: 'checkout', reqId: chance(n, 408, 50) ? `req-${n.toString(36)}` : uuid(n, 409) },
    }),
  }
}

/** @param {number} n */
function errorOf(n) {
  const kind = pick(n, 410, 100)
  if (kind < 35) return plain(n)
  if (kind < 50) return ofDatabase(n)
  if (kind < 65) return ofService(n)
  if (kind < 90) return withCauses(n, 1 + pick(n, 411, 3))
  return aggregate(n)
}

/** @param {number} n */
function plain(n) {
  const [type, message] = oneOf(n, 420, [
    [TypeError, `Cannot read properties of undefined (reading '${oneOf(n, 421, ['id', 'total', 'items'])}')`],
    [RangeError, `page ${pick(n, 422, 900)} is out of range`],
    [Error, `card ${1000 + pick(n, 423, 9000)} was declined by "issuer ${pick(n, 424, 40)}"`],
    [SyntaxError, `Unexpected token '<', "<!DOCTYPE html>..." is not valid JSON`],
    [Error, `${special(n, 425)}: ${text(n, 426, 12)}`],
  ])
  return traced(n, 1, new type(message), chance(n, 427, 40) ? { code: 'E_DECLINED', attempt: pick(n, 428, 3) } : {})
}

/** @param {number} n */
function ofDatabase(n) {
  return traced(n, 2, new Error(`duplicate key value violates unique constraint "orders_${hex(n, 430, 6)}_key"`), {
    length: 200 + pick(n, 431, 100),
    severity: 'ERROR',
    code: '23505',
    detail: `Key (number)=(${100_000 + n}) already exists.`,
    schema: 'public',
    table: 'orders',
    constraint: `orders_${hex(n, 430, 6)}_key`,
    routine: '_bt_check_unique',
  })
}

/** @param {number} n */
function ofService(n) {
  const status = oneOf(n, 440, [400, 402, 429, 500, 502, 503])
  const url = `https://payments.example.com/v1/charges/${uuid(n, 441)}?expand=card`
  return traced(n, 3, new Error(`Request failed with status code ${status}`), {
    code: status >= 500 ? 'ERR_BAD_RESPONSE' : 'ERR_BAD_REQUEST',
    statusCode: status,
    ...(chance(n, 442, 60) && {
      config: {
        method: 'post',
        url,
        timeout: 3000,
        headers: { accept: 'application/json', 'user-agent': 'axios/1.12.2' },
      },
      response: { status, data: { error: { type: 'card_error', message: text(n, 443, 10 + pick(n, 444, 60)) } } },
    }),
  })
}

/** @param {number} n @param {number} depth */
function withCauses(n, depth) {
  let cause = traced(n, 4, new Error(`connect ECONNREFUSED 10.0.${pick(n, 450, 9)}.${pick(n, 451, 250)}:5432`), {
    errno: -111,
    code: 'ECONNREFUSED',
    syscall: 'connect',
    address: `10.0.${pick(n, 450, 9)}.${pick(n, 451, 250)}`,
    port: 5432,
  })
  for (let at = 0; at < depth; at += 1)
    cause = traced(
      n,
      5 + at,
      new Error(`could not ${oneOf(n, 452 + at, ['load', 'save', 'lock'])} order ${100_000 + n}`, { cause }),
      {},
    )
  return cause
}

/** @param {number} n */
function aggregate(n) {
  const errors = Array.from({ length: 2 + pick(n, 460, 3) }, (_, at) =>
    traced(n, 20 + at, new Error(`carrier ${at}: ${text(n, 461 + at, 6)}`), { code: 'ETIMEDOUT' }),
  )
  return traced(n, 30, new AggregateError(errors, 'no carrier answered'), {})
}

/**
 * With a typical production stack: V8's limit is 10 frames, 5 in 100 have more.
 *
 * @param {number} n @param {number} salt @param {Error} err @param {object} properties
 */
function traced(n, salt, err, properties) {
  const frames = chance(n, 470 + salt, 5) ? 20 + pick(n, 500 + salt, 30) : 3 + pick(n, 540 + salt, 8)
  const lines = Array.from({ length: frames }, (_, at) => {
    const from = at > frames - 3 ? NODE : chance(n, salt * 64 + at, 50) ? OWN : LIBRARY
    return oneOf(n, salt * 96 + at, from).replace('%', String(20 + pick(n, salt * 128 + at, 400)))
  })
  err.stack = [`${err.name}: ${err.message}`, ...lines.map((line) => `    at ${line}`)].join('\n')
  return Object.assign(err, properties)
}
