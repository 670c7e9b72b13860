/** An application that logs secrets in every possible way. `PLAN`: options of pino-ingest. Without
 * `shutdownTimeoutMs` it waits until the service has all. */
import { createServer, request } from 'node:http'
import { once } from 'node:events'
import pino from 'pino'
import { pinoHttp } from 'pino-http'
import { addBreadcrumb, flush, ingestOptions, withScope } from 'pino-ingest'

const options = JSON.parse(process.env.PLAN)
const logger = pino(ingestOptions({ level: 'debug', transport: { target: 'pino-ingest', options } }))

/** As axios creates it: the error has the configuration, the request and the response. */
function axiosLikeError() {
  return Object.assign(new Error('Request failed with status code 401'), {
    name: 'AxiosError',
    code: 'ERR_BAD_REQUEST',
    config: {
      url: 'https://api.example.com/v1/charges?access_token=canary-config-url&page=2',
      method: 'post',
      params: { token: 'canary-params', page: 2 },
      headers: {
        Accept: 'application/json',
        'X-Internal': 'canary-internal',
        Authorization: 'Bearer canary-config-header',
        'X-Api-Key': 'canary-config-key',
        Cookie: 'sid=canary-config-cookie',
      },
      auth: { username: 'shop', password: 'canary-auth-password' },
      data: '{"cvv":"canary-cvv"}',
    },
    request: {
      _header:
        'POST /v1/charges HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer canary-raw-header\r\nCookie: a=canary-raw-cookie\r\n\r\n',
      path: '/v1/charges?api_key=canary-raw-path',
    },
    response: {
      status: 401,
      headers: { 'set-cookie': ['sid=canary-set-cookie; HttpOnly'], 'content-type': 'text/html' },
      data: '<p>canary-reply</p>',
    },
  })
}

const server = createServer((req, res) => {
  pinoHttp({ logger })(req, res)
  res.setHeader('set-cookie', 'sid=canary-response-cookie')
  res.end('ok')
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address()
const outgoing = request({
  port,
  path: '/orders?token=canary-query&page=2',
  headers: {
    authorization: 'Bearer canary-request-header',
    cookie: 'sid=canary-request-cookie',
    'x-api-key': 'canary-request-key',
  },
}).end()
const [reply] = await once(outgoing, 'response')
reply.resume()
await once(reply, 'end')

logger.debug(
  { headers: { authorization: 'Basic canary-debug-header' }, url: '/a?password=canary-debug-url' },
  'asked the bank',
)
logger.error(axiosLikeError(), 'charge failed')
logger.error({ failure: axiosLikeError() }, 'charge failed, under another key')
logger.info(
  {
    upstream: {
      rawHeaders: ['Authorization', 'Bearer canary-flat', 'Accept', '*/*'],
      pairs: [['Cookie', 'canary-pair']],
    },
  },
  'headers in lists',
)
logger.info(
  {
    session: { nested: [{ deep: { 'Set-Cookie': 'canary-deep-cookie', 'proxy-authorization': 'canary-deep-proxy' } }] },
  },
  'nested',
)
logger.info('redirected to https://shop.example.com/callback#access_token=canary-fragment&state=1')
logger.info({ authorization: 'Bearer canary-top' }, 'at the top')
logger.warn(`dump: ${JSON.stringify({ headers: { Authorization: 'Bearer canary-in-a-text' } })}`)
logger.info(
  {
    customer: {
      mail: 'canary-jane@example.com',
      card: '4111 1111 1111 1111',
      number: 4111111111111111,
      id: '078-05-1120',
    },
  },
  'customer canary-joe@example.com, bearer: Bearer canaryBearerToken1234567890',
)
logger.info({ apiSecret: 'sk_live_canary0123456789' }, 'with a key of our own kind: sk_live_canary9876543210')
withScope({ request_id: 'r-1', user: { id: 'u-1', email: 'canary-scope@example.com' } }, () => {
  addBreadcrumb({
    message: 'GET /x?secret=canary-crumb',
    data: { headers: { cookie: 'canary-crumb-cookie' }, mail: 'canary-crumb@example.com' },
  })
  logger.error(new Error('mail to canary-error@example.com failed'), 'failed')
})
server.close()
if (options.shutdownTimeoutMs === undefined) await flush(logger, { timeoutMs: 60_000 })
