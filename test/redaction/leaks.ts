/** Secrets as libraries, languages and tools write them to a log, in texts and structures. */
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
    data('got options', {
      options: { headers: { 'user-agent': 'got', cookie: `a=${m()}; b=${m()}` }, username: 'bob' },
    }),
    data('undici raw headers', { rawHeaders: ['host', 'a.example', 'authorization', `Bearer ${m()}`, 'cookie', m()] }),
    data('undici headers as pairs', {
      headers: [
        ['accept', '*/*'],
        ['proxy-authorization', `Basic ${m()}`],
      ],
    }),
    data('node-fetch Headers, raw()', {
      headers: { 'set-cookie': [`a=${m()}; Path=/`, `b=${m()}`], 'x-request-id': ['1'] },
    }),
    data('superagent header and auth', {
      req: { method: 'GET', url: '/x' },
      error: { header: { Authorization: `Basic ${m()}` }, options: { auth: `bob:${m()}` } },
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
    data('HAR, with members between', { entries: [{ value: m(), comment: '', name: 'Authorization' }] }),
    data('Postman', { header: [{ key: 'X-API-KEY', type: 'text', value: m() }] }),
    data('Go structs', { Headers: [{ Key: 'Authorization', Values: [m(), m()] }] }),
    data('field and content', {
      fields: [
        { field: 'set-cookie', content: m() },
        { Header: 'Cookie', Value: m() },
      ],
    }),
    data('a cookie logged by itself', { name: 'Cookie', value: m() }),
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
    data('Lambda event', { multiValueHeaders: { Cookie: [m()] }, cookies: [`sid=${m()}`] }),
    data('CloudFront event', { headers: { authorization: [{ key: 'Authorization', value: m() }] } }),
    data('Map entries', [
      ['x-api-key', m()],
      ['accept', 'x'],
    ]),
    data('list at an odd place', ['GET', 'cookie', m(), 'b']),
    data('two names side by side', ['x-forwarded-for', 'authorization', 'cookie', m()]),
    data('process.argv', { argv: ['node', 'cli.js', 'run', '--api-key', m(), '--verbose'] }),
    data('argv of curl', { args: ['-H', `Authorization: Bearer ${m()}`, `--header=X-Api-Key: ${m()}`] }),
    data('a header line as a key', { [`Authorization: Bearer ${m()}`]: true }),
    data('deep', [[[{ a: { b: [{ c: { cookie: m() } }] } }]]]),
    data('GraphQL error extensions', {
      errors: [
        { message: 'denied', extensions: { response: { headers: { authorization: m() } }, code: 'UNAUTHENTICATED' } },
      ],
    }),
    data('Rack environment', {
      'rack.request.cookie_hash': { sid: m() },
      'rack.request.cookie_string': `sid=${m()}`,
      'rack.url_scheme': 'http',
    }),
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
    data('Google Cloud httpRequest', {
      httpRequest: { requestUrl: `https://a.example/x?access_token=${m()}`, userAgent: 'x' },
      labels: { 'x-goog-api-key': m() },
    }),
    data('Sentry event', { request: { headers: [['Authorization', m()]], cookies: [['sid', m()]], env: {} } }),
    data('docker inspect', { Config: { Env: [`API_KEY=${m()}`, `HTTP_COOKIE=${m()}`, 'PATH=/bin'] } }),
    data('Metadata of gRPC', { metadata: { internalRepr: { authorization: [`Bearer ${m()}`], 'x-api-key': [m()] } } }),
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
    text('Digest', `Authorization: Digest username="bob", realm="x", response="${m()}", cnonce="${m()}"`),
    text(
      'AWS signature',
      `authorization=AWS4-HMAC-SHA256 Credential=${m()}/20260101/eu/s3/aws4_request, SignedHeaders=host, Signature=${m()}`,
    ),
    text(
      'curl -v',
      `> GET / HTTP/2\r\n> Host: a.example\r\n> Authorization: Bearer ${m()}\r\n< HTTP/2 200\r\n< set-cookie: sid=${m()}; HttpOnly\r\n`,
    ),
    text(
      'wget --debug',
      `---request begin---\nGET / HTTP/1.1\nAuthorization: Basic ${base64(`bob:${m()}`)}\nCookie: ${m()}\n---request end---`,
    ),
    text(
      'Python http.client debug',
      `send: b'GET / HTTP/1.1\\r\\nHost: a.example\\r\\nAuthorization: Bearer ${m()}\\r\\n\\r\\n'\nheader: Set-Cookie: sid=${m()}`,
    ),
    text(
      'Python dict repr',
      `{'User-Agent': 'python-requests/2.31', 'Authorization': 'Bearer ${m()}', 'x-api-key': "${m()}'s"}`,
    ),
    text('Python httpx Headers', `Headers([('host', 'a.example'), ('cookie', '${m()}')])`),
    text('ASGI scope', `'headers': [(b'host', b'a.example'), (b'authorization', b'Bearer ${m()}')]`),
    text(
      'Go httputil.DumpRequest',
      `GET / HTTP/1.1\r\nHost: a.example\r\nX-Amz-Security-Token: ${m()}\r\nAccept-Encoding: gzip\r\n\r\n`,
    ),
    text('Go http.Header', `map[Accept:[*/*] Authorization:[Bearer ${m()}] Cookie:[a=${m()}; b=[x] c=${m()}]]`),
    text('Go %#v', `http.Header{"Authorization":[]string{"Bearer x"}, "Cookie":[]string{"${m()}"}}`),
    text('Java map of lists', `{Authorization=[Bearer ${m()}], Accept=[*/*], Cookie=[a=${m()}; b=${m()}]}`),
    text('Java map of texts', `{Authorization=Digest ${m()}, Cookie=a=${m()}; b=${m()}}`),
    text('okhttp logging', `--> GET https://a.example/ h2\nAuthorization: Bearer ${m()}\n--> END GET`),
    text('Apache HttpClient wire log', `http-outgoing-0 >> "Cookie: sid=${m()}[\\r][\\n]"`),
    text(
      'Spring HttpHeaders',
      `[Content-Type:"application/json", Authorization:"Bearer ${m()}", Cookie:"a=${m()}", "${'b'}"]`,
    ),
    text(
      'Ruby inspect',
      `{"HTTP_AUTHORIZATION"=>"Bearer ${m()}", "HTTP_COOKIE"=>"a=${m()}; b=\\"${m()}\\"", :api_key=>"${m()}"}`,
    ),
    text('Ruby 3.4 inspect', `{"HTTP_X_API_KEY" => "${m()}", authorization: "Token ${m()}"}`),
    text(
      'PHP print_r',
      `Array\n(\n    [Authorization] => Bearer ${m()}\n    [Cookie] => Array\n        (\n            [0] => ${m()}\n        )\n\n    [Host] => a.example\n)`,
    ),
    text(
      'PHP var_dump',
      `array(2) {\n  ["Authorization"]=>\n  string(8) "Bearer ${m()}"\n  ["Cookie"]=>\n  array(1) {\n    [0]=>\n    string(6) "${m()}"\n  }\n}`,
    ),
    text(
      'PHP var_export',
      `array (\n  'Authorization' => 'Bearer ${m()}',\n  'Cookie' => \n  array (\n    0 => '${m()}',\n  ),\n)`,
    ),
    text(
      'PHP json_encode',
      `{"Authorization":"Basic ${m()}\\/x\\/${m()}","url":"https:\\/\\/bob:${m()}@a.example\\/x"}`,
    ),
    text(
      '.NET HttpRequestMessage',
      `Method: GET, RequestUri: 'https://a.example/', Headers:\r\n{\r\n  Authorization: Bearer ${m()}\r\n  Cookie: ${m()}\r\n}`,
    ),
    text('nginx log', `10.0.0.1 - - [01/Jan/2026] "GET / HTTP/1.1" 200 "-" "curl" "Bearer ${m()}"`),
    text('Envoy debug log', `':authority', 'a.example'\n'authorization', 'Bearer ${m()}'\n'cookie', '${m()}'`),
    text(
      'Apache environment',
      `SERVER_NAME=a.example\nHTTP_COOKIE=a=${m()}; b=${m()}\nHTTP_AUTHORIZATION=Bearer ${m()}\n`,
    ),
    text(
      'HAR as text',
      quoted({
        headers: [
          { name: 'Cookie', value: m() },
          { name: 'Accept', value: 'x' },
        ],
      }),
    ),
    text('HAR as text, indented', JSON.stringify([{ name: 'x-api-key', value: m() }], undefined, 2)),
    text(
      'util.inspect',
      `IncomingMessage {\n  rawHeaders: [\n    'Host',\n    'a.example',\n    'Authorization',\n    'Bearer ${m()}'\n  ],\n  [Symbol(kHeaders)]: {\n    host: 'a.example',\n    authorization: 'Bearer ${m()}',\n    'set-cookie': [ 'a=${m()}', 'b=${m()}' ]\n  }\n}`,
    ),
    text(
      'util.inspect, a long value',
      `headers: {\n  authorization:\n   'Bearer ${m()}',\n  cookie: 'a\\n' +\n    '${m()}' }`,
    ),
    text(
      'ClientRequest, _header',
      `_header: 'GET / HTTP/1.1\\r\\nAuthorization: Bearer ${m()}\\r\\nHost: a.example\\r\\n\\r\\n',`,
    ),
    text(
      'kOutHeaders',
      `[Symbol(kOutHeaders)]: [Object: null prototype] { cookie: [ 'Cookie', 'a=${m()}' ], host: [ 'Host', 'x' ] }`,
    ),
    text('Kubernetes environment', `env:\n  - name: X_API_KEY\n    value: ${m()}\n  - name: PORT\n    value: "80"`),
    text('kubectl describe', `    Environment:\n      X_API_KEY:   ${m()}\n      PORT:        80`),
    text(
      'YAML',
      `headers:\n  Authorization: Bearer ${m()}\n  "X-Api-Key": abc ${m()}\n  Cookie:\n    - ${m()}\n  Accept: x`,
    ),
    text(
      'XML configuration',
      `<header name="Authorization" value="Bearer ${m()}"/><header name='Cookie' value='${m()}'/>`,
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
    text('Scala map', `Map(Authorization -> Bearer ${m()})`),
    text('Swift dictionary', `[AnyHashable("Authorization"): "Bearer ${m()}", "X-Api-Key": Optional("${m()}")]`),
    text(
      'Objective-C dictionary',
      `{\n    Authorization = "Bearer ${m()}";\n    "Set-Cookie" =     (\n        "a=${m()}"\n    );\n}`,
    ),
    text('Erlang list', `[{<<"authorization">>,<<"Bearer ${m()}">>},{"cookie","${m()}"}]`),
    text('Elixir list', `[{"authorization", "Token ${m()}"}, {"accept", "x"}]`),
    text('Rust HeaderMap', `{"host": "a.example", "x-api-key": "${m()}", "cookie": "a=\\"${m()}\\""}`),
    text(
      'OpenTelemetry attributes as text',
      `http.request.header.authorization: ["Bearer ${m()}"] http.response.header.set_cookie=["${m()}"]`,
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
    text(
      'nginx debug log',
      `[debug] 1#1: *1 http header: "Cookie: a=${m()}; b=${m()}"\n[debug] 1#1: *1 http proxy header: "X-Api-Key: ${m()}"`,
    ),
    text('Java okhttp Request', `Request{method=GET, url=https://a.example/, headers=[Authorization:Token ${m()}]}`),
    text('Java netty', `headers=GrpcHttp2OutboundHeaders[:authority: a, authorization: Bearer ${m()}, cookie: ${m()}]`),
    text('Rust Debug, indented', `Config {\n    api_key: Some(\n        "${m()}",\n    ),\n    url: "x",\n}`),
    text('aiohttp', `<CIMultiDictProxy('Host': 'a.example', 'Authorization': 'Token ${m()}', 'Cookie': 'a=${m()}')>`),
    text('Elixir Plug', `%Plug.Conn{req_headers: [{"cookie", "a=${m()}"}], cookies: %{"sid" => "${m()}"}}`),
    text(
      'Jest snapshot',
      `Object {\n  "Authorization": "Token ${m()}",\n  "set-cookie": Array [\n    "a=${m()}",\n  ],\n}`,
    ),
    text('TOML', `[headers]\nAuthorization = "Token ${m()}"\nCookie = """${m()}"""`),
    text('TOML in JSON', quoted({ config: `Cookie = """${m()}"""\nhost = "a.example"` })),
    // JSON in text
    text('JSON', quoted({ headers: { cookie: m(), authorization: m(), 'x-api-key': 12 } })),
    text('JSON with spaces', `{ "authorization" : "Bearer ${m()}" , "cookie" :\n  "${m()}" }`),
    text('JSON in JSON', quoted({ body: quoted({ authorization: `Digest ${m()} "${m()}"` }) })),
    text('JSON in JSON in JSON', quoted(quoted({ body: quoted({ 'set-cookie': [m(), `"${m()}"`] }) }))),
    text('JSON that was cut off', quoted({ a: quoted({ cookie: m() }) }).slice(0, -4)),
    text(
      'header lines in JSON',
      quoted({ raw: `GET / HTTP/1.1\r\nCookie: a="${m()}"; b=${m()}\r\n c=${m()}\r\nHost: x` }),
    ),
    // Credentials with their scheme
    text('Bearer in a sentence', `the token Bearer ${m()} was refused, so was bearer ${m()}`),
    text('a JSON web token', `Bearer eyJhbGciOiJIUzI1NiJ9.${m()}.${m()}-_x`),
    text('an opaque token', `sent Bearer 1|${m()}:${m()}$x`),
    text('Basic, with padding', `WWW basic ${base64(`bob:${m()}x`)} and Basic ${base64(`bob:${m()}xy`)}`),
    text('Bearer in a query', `GET /x?auth=Bearer%20${m()}&a=1 and ?auth=Bearer+${m()}`),
    text('Bearer after a written line break', `said\\nBearer ${m()}`),
    // Colors, and values in parts
    text(
      'curl -v on a terminal',
      `< \u001B[1mset-cookie\u001B[0m: sid=${m()}; path=/\r\n< \u001B[1mx-auth-token\u001B[0m: ${m()}\r\n`,
    ),
    text(
      'jq -C',
      `\u001B[1;39m{\n  \u001B[0m\u001B[34;1m"authorization"\u001B[0m\u001B[1;39m:\u001B[0m \u001B[0;32m"Token ${m()}"\u001B[0m\n}`,
    ),
    text(
      'HTTPie on a terminal',
      `\u001B[34mAuthorization\u001B[39;49;00m: Token ${m()}\r\n\u001B[34mAccept\u001B[39;49;00m: */*`,
    ),
    text(
      'util.inspect with colors',
      inspect({ headers: { authorization: `Token ${m()}`, 'x-api-key': m(), cookie: `a=${m()}` } }, { colors: true }),
    ),
    text(
      'util.inspect with colors, a list',
      inspect(
        {
          'set-cookie': [`a=${m()}; Path=/; HttpOnly; Secure`, `b=${m()}; Path=/; HttpOnly; Secure`],
          rawHeaders: ['X-Api-Key', m()],
        },
        { colors: true },
      ),
    ),
    text('colored text in JSON', quoted({ line: `\u001B[36mCookie\u001B[39m: a=${m()}` })),
    text(
      'util.inspect of a value of several lines',
      inspect({ 'set-cookie': `a=${'x'.repeat(80)}\nb=${m()}\nc=${m()}`, accept: 'x' }),
    ),
    text('a quote that YAML and SQL double', `{'Cookie': 'it''s; sid=${m()}'}`),
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
    text('an escaped no-break space', `{"text":"Cookie\\u00a0: ${m()}"} said Bearer\\u00a0${m()}`),
    // URLs
    text('PostgreSQL', `connect postgres://bob:${m()}@db:5432/app failed`),
    text('Redis', `redis://:${m()}@cache:6379/0`),
    text('AMQP', `amqps://bob:${m()}@mq/%2F`),
    text('MongoDB', `mongodb+srv://bob:${m()}@a.example,b.example/x?retryWrites=true`),
    text('git over https', `fatal: unable to access 'https://x-token:${m()}@git.example/a.git/'`),
    text('marks of RFC 3986 in a password', `https://bob:${m()}!$&'()*+,;=-._~%20${m()}@a.example/`),
    text('what browsers accept too', `https://b[o]b:{|}^\`"<>${m()}😀@${m()}@a.example`),
    text('a URL in single quotes', `'https://bob:${m()}\`x@a.example'`),
    text('a percent-encoded URL', `/login?next=https%3A%2F%2Fbob%3A${m()}%40x${m()}%40a.example%2Fx`),
    text('a URL encoded by Python, which keeps slashes', `/login?next=https%3A//bob%3A${m()}%40a.example/x`),
    text(
      'a URL encoded by encodeURIComponent',
      `?next=${encodeURIComponent(`https://bob:it's${m()}!(x)*~@a.example/`)}&also=${encodeURIComponent(`https://bob:it'-${m()}@a.example/`)}`,
    ),
    text('a URL that was encoded twice', `?u=https%253A%252F%252Fbob%253A${m()}%2540a.example`),
    ...[2, 3, 4].map((times) => {
      let url = `https://a.example/x?page=2&api_key=${m()}&user[password]=${m()}&z=1`
      for (let count = 0; count < times; count += 1) url = encodeURIComponent(url)
      return text(`a query string that was encoded ${times} times`, `/login?next=${url}&top=1`)
    }),
    text('query strings', `GET /x?api_key=${m()}&page=2 and /y?a=1&x-api-key=${m()}#top and /z?access_token=${m()}`),
  ]
}
