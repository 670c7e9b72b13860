/** Secrets as Node, its libraries and tools write them to a log, in texts and structures. */
import { inspect } from 'node:util'
import type { Json } from '../../src/protocol/log-entry.js'

export interface Leak {
  readonly source: string
  /** Every secret in it starts with the marker. */
  readonly value: Json
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** @param mark creates a secret that is not part of another */
export function leaks(mark: () => string): Leak[] {
  const m = mark
  const quoted = (value: Json): string => JSON.stringify(value)
  const text = (source: string, value: string): Leak => ({ source, value })
  const data = (source: string, value: Json): Leak => ({ source, value })
  return [
    // Structures
    data('axios error JSON', {
      message: 'Request failed',
      config: {
        url: '/a',
        headers: { Accept: '*/*', Authorization: `Bearer ${m()}`, 'X-Api-Key': m() },
        auth: { username: 'bob', password: m() },
      },
    }),
    data('undici raw headers', { rawHeaders: ['host', 'a.example', 'authorization', `Bearer ${m()}`, 'cookie', m()] }),
    data('node-fetch Headers, raw()', {
      headers: { 'set-cookie': [`a=${m()}; Path=/`, `b=${m()}`], 'x-request-id': ['1'] },
    }),
    data('AWS SDK v3 $response', {
      $metadata: { httpStatusCode: 403 },
      $response: { headers: { 'x-amz-security-token': m(), 'x-amzn-requestid': '1' } },
    }),
    data('HAR', {
      request: {
        headers: [
          { name: 'Cookie', value: m() },
          { name: 'Accept', value: 'x' },
        ],
      },
    }),
    data('OpenTelemetry attributes', {
      'http.request.header.authorization': [`Bearer ${m()}`],
      'http.request.header.x_api_key': [m()],
      'http.response.header.set_cookie': m(),
    }),
    data('CGI environment', {
      env: {
        HTTP_AUTHORIZATION: m(),
        HTTP_COOKIE: m(),
        HTTP_X_TOKEN: m(),
        REDIRECT_HTTP_AUTHORIZATION: m(),
        PATH: '/bin',
      },
    }),
    data('two names side by side', ['x-forwarded-for', 'authorization', 'cookie', m()]),
    data('process.argv', { argv: ['node', 'cli.js', 'run', '--api-key', m(), '--verbose'] }),
    data('argv of curl', { args: ['-H', `Authorization: Bearer ${m()}`, `--header=X-Api-Key: ${m()}`] }),
    data('a header line as a key', { [`Authorization: Bearer ${m()}`]: true }),
    data('express-validator', {
      errors: [
        { type: 'field', value: m(), msg: 'Invalid value', path: 'x-api-key', location: 'headers' },
        { value: m(), msg: 'Invalid value', param: 'authorization', location: 'headers' },
      ],
    }),
    data('OpenTelemetry attributes as OTLP', {
      attributes: [
        {
          key: 'http.request.header.authorization',
          value: { arrayValue: { values: [{ stringValue: `Bearer ${m()}` }] } },
        },
        { key: 'rpc.grpc.request.metadata.cookie', value: { stringValue: m() } },
      ],
    }),
    data('an execa error', {
      command: `curl -H 'X-Api-Key: ${m()}'`,
      escapedCommand: `sh -c "curl -H \\"Authorization: Token ${m()}\\""`,
    }),
    data('parameters as pairs', {
      req: { method: 'GET', query: [['token', m()]] },
      config: {
        params: [
          { name: 'api_key', value: m() },
          { key: 'page', value: 2 },
        ],
      },
      searchParams: [
        ['page', '2'],
        ['password', m(), m()],
      ],
    }),
    // Text of HTTP
    text(
      'an HTTP request',
      `GET / HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer ${m()}\r\nCookie: a=${m()}; b="${m()}"\r\n\r\n`,
    ),
    text('spaces around the colon', `Authorization : Bearer ${m()}\nX-Api-Key\t:\t${m()}`),
    text('a folded header', `Cookie: a=${m()};\r\n b=${m()};\r\n\tc=${m()}\r\nHost: a.example`),
    text('a value on the next line', `Authorization:\r\n Bearer\r\n ${m()}\r\nHost: a.example`),
    text(
      'curl -v',
      `> GET / HTTP/2\r\n> Host: a.example\r\n> Authorization: Bearer ${m()}\r\n< HTTP/2 200\r\n< set-cookie: sid=${m()}; HttpOnly\r\n`,
    ),
    text('nginx log', `10.0.0.1 - - [01/Jan/2026] "GET / HTTP/1.1" 200 "-" "curl" "Bearer ${m()}"`),
    text('HAR as text, indented', JSON.stringify([{ name: 'x-api-key', value: m() }], undefined, 2)),
    text(
      'util.inspect',
      `IncomingMessage {\n  rawHeaders: [\n    'Host',\n    'a.example',\n    'Authorization',\n    'Bearer ${m()}'\n  ],\n  [Symbol(kHeaders)]: {\n    host: 'a.example',\n    authorization: 'Bearer ${m()}',\n    'set-cookie': [ 'a=${m()}', 'b=${m()}' ]\n  }\n}`,
    ),
    text('logfmt', `method=GET x-api-key="${m()}" status=200 authorization=${m()}`),
    text(
      'a shell command',
      `curl -H "Authorization: Bearer ${m()}" -H 'X-Api-Key: ${m()}' --header="Cookie: a=${m()}" \\\n  -H Cookie:\\ ${m()} https://bob:${m()}@a.example/`,
    ),
    text(
      'fetch in JavaScript',
      `fetch('/x', { headers: { Authorization: \`Bearer ${m()}\`, "X-Api-Key": "${m()}", Cookie: 'a' + '${m()}' } })`,
    ),
    text(
      'util.inspect of Headers, a Map and cookies',
      inspect({
        headers: new Headers({ authorization: `Token ${m()}`, 'x-api-key': m() }),
        map: new Map([['set-cookie', [`a=${m()}`, `b=${m()}`]]]),
        cookies: Object.assign(Object.create(null) as object, { sid: m() }),
        signedCookies: Object.assign(Object.create(null) as object, { sid: m(), other: 'x'.repeat(80) }),
      }),
    ),
    ...[
      () => ({ sid: m() }),
      () => Object.assign(Object.create(null) as object, { sid: m() }),
      () => new Map([['sid', m()]]),
    ].flatMap((cookies) =>
      [false, true].map((colors) =>
        text(
          `util.inspect with getters${colors ? ' and colors' : ''} of ${inspect(cookies(), { depth: -1 })}`,
          inspect(
            {
              get cookies() {
                return cookies()
              },
            },
            { getters: true, colors },
          ),
        ),
      ),
    ),
    // JSON in text
    text('JSON', quoted({ headers: { cookie: m(), authorization: m(), 'x-api-key': 12 } })),
    text('JSON in JSON', quoted({ body: quoted({ authorization: `Digest ${m()} "${m()}"` }) })),
    text('JSON in JSON in JSON', quoted(quoted({ body: quoted({ 'set-cookie': [m(), `"${m()}"`] }) }))),
    // Credentials with their scheme
    text('Bearer in a sentence', `the token Bearer ${m()} was refused, so was bearer ${m()}`),
    text('a JSON web token', `Bearer eyJhbGciOiJIUzI1NiJ9.${m()}.${m()}-_x`),
    text('Basic, with padding', `WWW basic ${base64(`bob:${m()}x`)} and Basic ${base64(`bob:${m()}xy`)}`),
    // Colors, and values in parts
    text(
      'jq -C',
      `\u001B[1;39m{\n  \u001B[0m\u001B[34;1m"authorization"\u001B[0m\u001B[1;39m:\u001B[0m \u001B[0;32m"Token ${m()}"\u001B[0m\n}`,
    ),
    text(
      'util.inspect with colors',
      inspect({ headers: { authorization: `Token ${m()}`, 'x-api-key': m(), cookie: `a=${m()}` } }, { colors: true }),
    ),
    // Words for nothing, markers and spaces
    ...['none', 'undefined', 'null', 'None'].map((nothing) =>
      text(
        `a value that begins with ${nothing}`,
        `Cookie: ${nothing}, sid=${m()}\nX-Api-Key: ${nothing}, ${m()}\nAuthorization: ${nothing}\n  ${m()}\nCookie: ${nothing} a=${m()}; b=${m()}`,
      ),
    ),
    ...['[removed]', '[scrubbed]'].map((marker) =>
      text(
        `a value that begins with ${marker}`,
        `Cookie: ${marker} sid=${m()}\nX-Api-Key: ${marker}, ${m()}\nCookie: ${marker}; a=${m()}\nAuthorization: ${marker} Bearer ${m()}`,
      ),
    ),
    text(
      'markers in a URL',
      `https://[scrubbed]@bob:${m()}@a.example/ ?u=https%3A%2F%2F[scrubbed]%40bob%3A${m()}%40a.example`,
    ),
    ...['\u00A0', '\u2003', '\u202F', '\u3000', '\u200B'].map((space) =>
      text(
        `the space U+${space.charCodeAt(0).toString(16)}`,
        `Cookie${space}: a=${m()}\nX-Api-Key:${space}${m()}\nx Bearer${space}${m()} and Authorization${space}=${space}${m()}`,
      ),
    ),
    // URLs
    text('PostgreSQL', `connect postgres://bob:${m()}@db:5432/app failed`),
    text('MongoDB', `mongodb+srv://bob:${m()}@a.example,b.example/x?retryWrites=true`),
    text('marks of RFC 3986 in a password', `https://bob:${m()}!$&'()*+,;=-._~%20${m()}@a.example/`),
    text('what browsers accept too', `https://b[o]b:{|}^\`"<>${m()}😀@${m()}@a.example`),
    text('a percent-encoded URL', `/login?next=https%3A%2F%2Fbob%3A${m()}%40x${m()}%40a.example%2Fx`),
    text(
      'a URL encoded by encodeURIComponent',
      `?next=${encodeURIComponent(`https://bob:it's${m()}!(x)*~@a.example/`)}&also=${encodeURIComponent(`https://bob:it'-${m()}@a.example/`)}`,
    ),
    ...[2, 3, 4].map((times) => {
      let url = `https://a.example/x?page=2&api_key=${m()}&user[password]=${m()}&z=1`
      for (let count = 0; count < times; count += 1) url = encodeURIComponent(url)
      return text(`a query string that was encoded ${times} times`, `/login?next=${url}&top=1`)
    }),
    text('query strings', `GET /x?api_key=${m()}&page=2 and /y?a=1&x-api-key=${m()}#top and /z?access_token=${m()}`),
  ]
}

/** The names that `scrub.keys` has by default. */
export const KEYS =
  'password passwd secret token access_token refresh_token api_key apikey authorization cookie client_secret private_key'.split(
    ' ',
  )
export const SPELLINGS: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => key.toUpperCase(),
  (key) => key.replace('_', '-'),
  (key) => key.replace(/_(.)/, (_, letter: string) => letter.toUpperCase()),
  (key) => `Db.${key.charAt(0).toUpperCase()}${key.slice(1)}`,
]

/** A secret under a key at every position. @param key creates the key of the next position */
export function keyLeaks(mark: () => string, key: () => string): Leak[] {
  const leak = (source: string, create: (key: string, m: () => string) => Json): Leak => {
    const name = key()
    return { source: `${name}: ${source}`, value: create(name, mark) }
  }
  const { stringify } = JSON
  return [
    leak('a member', (k, m) => ({ [k]: m() })),
    leak('deep', (k, m) => [[{ a: { b: [{ [k]: m(), n: 1 }] } }]]),
    leak('an object and a list', (k, m) => ({ a: { [k]: { b: [m()] } }, b: { [k]: [m(), 1] } })),
    leak('beside its name', (k, m) => [
      { name: k, value: m() },
      { key: k, type: 'text', value: { a: m() } },
    ]),
    leak('express-validator', (k, m) => ({ errors: [{ type: 'field', value: m(), msg: 'Invalid', path: k }] })),
    leak('pairs', (k, m) => [
      [k, m(), m()],
      ['a', 'b'],
    ]),
    leak('arguments', (k, m) => ({ spawnargs: ['node', `--${k}`, m(), '--verbose'] })),
    leak('a parsed query', (k, m) => ({ req: { method: 'GET', url: '/', query: { [k]: m() }, params: { a: 1 } } })),
    leak('an error', (k, m) => ({ err: { type: 'E', message: k, stack: 'E', cause: { [k]: m() }, [k]: m() } })),
    leak('a user', (k, m) => ({ user: { id: '1', [k]: m() } })),
    leak('JSON', (k, m) => stringify({ a: 1, [k]: m(), o: { [k]: { a: m() } }, l: { [k]: [m()] } })),
    leak('JSON, indented', (k, m) => stringify({ a: 1, [k]: m(), o: { [k]: { a: m() } }, l: { [k]: [m()] } }, null, 2)),
    leak('JSON in JSON', (k, m) => stringify({ body: stringify({ [k]: `"${m()}`, n: 1, o: { [k]: [m()] } }) })),
    leak('JSON in JSON in JSON', (k, m) => stringify(stringify({ body: stringify({ [k]: `${m()}"${m()}` }) }))),
    leak('JSON that was cut off', (k, m) => stringify({ a: stringify({ [k]: m() }) }).slice(0, -4)),
    leak('JSON pairs', (k, m) => stringify([{ name: k, value: m() }, [[k, m()]]])),
    ...[false, true].flatMap((colors) => [
      leak('inspect', (k, m) =>
        inspect({ a: { [k]: m(), n: 1 }, b: { [k]: { c: m() } }, c: { [k]: [m()] } }, { depth: 9, colors }),
      ),
      leak('inspect of a Map', (k, m) => inspect(new Map([[k, m()]]), { colors })),
      leak('inspect of pairs', (k, m) => inspect([[k, m()]], { colors })),
      leak('inspect of objects with a class', (k, m) =>
        inspect(
          { [k]: new Map([['a', m()]]), b: { [k]: Object.assign(Object.create(null) as object, { a: m() }) } },
          { colors },
        ),
      ),
      leak('inspect of a getter', (k, m) =>
        inspect(Object.defineProperty({}, k, { enumerable: true, get: m }), { getters: true, colors }),
      ),
      leak('inspect of several lines', (k, m) => inspect({ [k]: `${m()}\n${'x'.repeat(80)}${m()}` }, { colors })),
    ]),
    leak('JavaScript', (k, m) => `{ "${k}": "${m()}", '${k}': \`${m()}\` }`),
    leak('an assignment', (k, m) => `${k} = "${m()}" and ${k}='${m()}'`),
    leak('arguments in a text', (k, m) => inspect(['node', `--${k}`, m()])),
  ]
}
