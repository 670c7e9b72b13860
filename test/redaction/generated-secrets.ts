/**
 * Log calls and lines of text that contain one secret each, written from the documentation alone and without the rules: a
 * name, a value, a form and a place are combined at random.
 */
import { inspect } from 'node:util'

export interface GeneratedSecret {
  /** Occurs in nothing else; if it arrives, the case leaked */
  readonly token: string
  /** Form and position, for the report */
  readonly kind: string
  /** Whether the form must be removed: neither `src/redaction/README.md` nor `NOT_PROMISED` excludes it */
  readonly promised: boolean
  /** Arguments of a logger's method, or a text for the pipe */
  readonly log?: readonly unknown[]
  readonly text?: string
}

const TOKEN = /zq7[a-z0-9]{6}|7077\d{6}/g
export const findTokens = (text: string): string[] => text.match(TOKEN) ?? []

class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }
  /** A name and what its function makes */
  make<T>(makers: Readonly<Record<string, () => T>>): [name: string, made: T] {
    const [name, make] = this.pick(Object.entries(makers))
    return [name, make()]
  }
  chance(share: number): boolean {
    return this.next() < share
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }
}

const HEADERS =
  `authorization proxy-authorization cookie set-cookie x-api-key api-key openai-api-key access-token x-access-token x-auth-token
auth-token aws-session-token x-amz-security-token csrf-token x-csrf-token client-secret ocp-apim-subscription-key x-vault-token
x-hub-secret x-goog-auth x-forwarded-authorization x-session-cookie refresh-token private-token`.split(/\s+/)

const title = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const camel = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
const snake = (name: string): string => name.replaceAll('-', '_')
const STYLES: ReadonlyArray<(name: string) => string> = [
  (name) => name,
  (name) => name,
  (name) => name.split('-').map(title).join('-'),
  (name) => name.split('-').map(title).join('-'),
  (name) => name.toUpperCase(),
  snake,
  (name) => snake(name).toUpperCase(),
  camel,
  (name) => title(camel(name)),
  (name) => `HTTP_${snake(name).toUpperCase()}`,
  (name) => `http.request.header.${name}`,
  (name) => `req.headers.${name}`,
]

interface Value {
  readonly text: string
  /** Also readable without quotes: no quotes, brackets or line breaks before the token */
  readonly bare: boolean
  readonly label: string
}

function headerValue(random: Random, token: string): Value {
  const bare: Record<string, string> = {
    plain: token,
    bearer: `Bearer ${token}`,
    basic: `Basic ${token}`,
    lowercase: `bearer ${token}`,
    cookie: `sid=${token}; Path=/; HttpOnly`,
    second: `theme=dark; lang=de; sid=${token}`,
    aws: `AWS4-HMAC-SHA256 Credential=AKIA1/20261124/eu/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=${token}`,
    word: `${random.pick(['none', 'null', 'undefined', 'true', 'false', 'nil', '0', 'token', 'expired'])}${random.pick([', ', '; ', ' '])}sid=${token}`,
    marker: `${random.pick(['[removed]', '[scrubbed]'])}${random.pick([', ', '; ', ' '])}sid=${token}`,
    words: `one two three ${token}`,
    long: `${'0a1b'.repeat(random.pick([20, 300, 2500]))}${token}`,
    followed: `${token}${'c9d8'.repeat(random.pick([20, 300, 2500]))}`,
    unicode: `käse—日本=${token}`,
    emoji: `👩‍👩‍👧=1; s=${token}`,
    backslash: String.raw`a\b\\c=${token}`,
    percent: `s%3A${token}.abc%2Fdef%3D`,
    comma: `a,b,c,${token}`,
    colon: `user:${token}`,
    equals: `==${token}==`,
    jwt: `eyJhbGciOiJIUzI1NiJ9.${token}.sig`,
    uri: `redirect=/a?b=c&d=${token}`,
    date: `id=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; s=${token}`,
    slash: `a/b //c ${token}`,
    hash: `#1 # ${token}`,
    space: `  ${token}  `,
    exclusive: `a|b ${token}`,
  }
  const other: Record<string, string> = {
    quoted: `sid="${token}"; Path=/`,
    afterQuote: `a="b"; sid=${token}`,
    digest: `Digest username="u", realm="r", response="${token}"`,
    apostrophe: `o'neil=1; sid=${token}`,
    backtick: `a=\`1\`; "b"='2'; sid=${token}`,
    newline: `a=b\n${token}`,
    crlf: `a=b;\r\n sid=${token}`,
    tab: `a=b;\tsid=${token}`,
    angle: `<b>=1; <${token}>`,
    json: JSON.stringify({ theme: 'dark', sid: token }),
    bracket: `a=[1]; b={2}; c=(3); sid=${token}`,
    closing: `a=]; b=}; c=); sid=${token}`,
    trailing: `a=b\\`.repeat(2) + `"; sid=${token}`,
  }
  const isBare = random.chance(0.6)
  const list = Object.entries(isBare ? bare : other)
  const [label, text] = random.pick(list)
  return { text, bare: isBare, label }
}

/** What a library makes of the value of a header: text, list, number, object */
function structuredValue(random: Random, value: Value, token: string): unknown {
  return random.pick([
    () => value.text,
    () => value.text,
    () => value.text,
    () => [value.text],
    () => ['theme=dark; Path=/', value.text],
    () => ({ value: value.text }),
    () => ({ sid: token, nested: [{ deep: value.text }] }),
    () => [[value.text]],
    () => ({ 0: value.text }),
  ])()
}

const OTHER_HEADERS: ReadonlyArray<readonly [string, string]> = [
  ['host', 'api.example.com'],
  ['accept', '*/*'],
  ['content-type', 'application/json; charset=utf-8'],
  ['content-length', '17'],
  ['x-request-id', '8f2-11'],
  ['cache-control', 'none'],
]

/** Headers in which the secret's is the first, the last or in between */
function headerPairs<T>(random: Random, name: string, value: T): Array<[string, T | string]> {
  const pairs: Array<[string, T | string]> = OTHER_HEADERS.filter(() => random.chance(0.4)).map(([other, text]) => [
    other,
    text,
  ])
  pairs.splice(random.below(pairs.length + 1), 0, [name, value])
  return pairs
}

interface Form {
  readonly kind: string
  readonly promised: boolean
  readonly text?: string
  /** Members of a record or of an error */
  readonly members?: Record<string, unknown>
  readonly err?: Error
}

function headerMembers(random: Random, token: string): Form {
  const name = random.pick(STYLES)(random.pick(HEADERS))
  const value = headerValue(random, token)
  const given = structuredValue(random, value, token)
  const pairs = headerPairs(random, name, given)
  const textPairs = headerPairs(random, name, value.text)
  const nameKey = random.pick(['name', 'key', 'field', 'header', 'headerName', 'attributeName', 'param'])
  const valueKey = random.pick(['value', 'values', 'content', 'headerValue', 'rawValue'])
  const forms: Record<string, () => Record<string, unknown>> = {
    object: () => ({
      [random.pick(['headers', 'sent', 'h', 'meta', 'rawHeaders', 'upstream', 'options', 'args'])]:
        Object.fromEntries(pairs),
    }),
    member: () => ({ [name]: given }),
    pairs: () => ({ [random.pick(['headers', 'entries', 'list', 'h'])]: textPairs }),
    pair: () => ({ header: [name, value.text] }),
    pairWithList: () => ({ entries: [[name, [value.text]]] }),
    flat: () => ({ rawHeaders: textPairs.flat() }),
    named: () => ({ headers: textPairs.map(([key, text]) => ({ [nameKey]: key, [valueKey]: text })) }),
    namedReversed: () => ({
      headers: textPairs.map(([key, text]) => ({ [valueKey]: text, enabled: true, [nameKey]: key })),
    }),
    namedValue: () => ({ header: { [nameKey]: name, [valueKey]: given } }),
    number: () => ({ headers: { [name]: Number(token) || token } }),
    numberPair: () => ({ headers: [name, Number(token) || token] }),
    json: () => ({ body: JSON.stringify({ headers: Object.fromEntries(pairs) }) }),
    lines: () => ({ headers: textPairs.map(([key, text]) => `${key}: ${text}`) }),
  }
  const [kind, members] = random.make(forms)
  return { kind: `members.${kind}/${value.label}`, promised: kind !== 'lines' || value.bare, members }
}

const SEPARATORS = [': ', ': ', ':', ' : ', ':\t', ':  ', '=', ' = ', ' => ', '=>', ':\u00A0', ': \u2003']

function headerText(random: Random, token: string): Form {
  const name = random.pick(STYLES)(random.pick(HEADERS))
  const value = headerValue(random, token)
  const given = structuredValue(random, value, token)
  const textPairs = headerPairs(random, name, value.text)
  const object = Object.fromEntries(headerPairs(random, name, given))
  const wireName = /^[a-z-]+$/i.test(name) ? name : 'Cookie'
  const wire = headerPairs(random, wireName, value.text).map(([key, text]) => `${key}: ${text}`)
  const end = random.pick(['\r\n', '\n'])
  const indent = random.pick<number | string>([1, 2, 4, '\t'])
  const before = random.pick([
    '',
    '',
    'sent ',
    'upstream replied 401: ',
    'headers\n',
    '(',
    'x=1 ',
    '[12:01:02] ',
    '> ',
    '- ',
    '* ',
    'failed, ',
  ])
  const after = random.pick(['', '', ' (retry 2)', '\nnext line', '\n    at next (file.js:1:2)', ', '])
  const escaped = (quote: string): string =>
    quote +
    value.text
      .replaceAll('\\', '\\\\')
      .replaceAll(quote, `\\${quote}`)
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r') +
    quote
  const { bare } = value
  const forms: Record<string, () => [string, boolean]> = {
    line: () => [before + name + random.pick(SEPARATORS) + value.text + after, bare],
    folded: () => [
      `${before}${wireName}: a=b;${end}${random.pick([' ', '\t', '   '])}sid=${token}${end}`,
      !/^[->*([]/.test(before),
    ],
    nextLine: () => [`${wireName}:\n    ${value.text}`, bare],
    quoted: () => {
      const quote = random.pick(['"', "'", '`'])
      return [
        `${before}${quote}${name}${quote}${random.pick([':', ': ', ' : ', '=>', ' => ', ' = '])}${escaped(quote)}${after}`,
        true,
      ]
    },
    quotedValue: () => [
      `${before}${name}${random.pick(['=', ': ', ':', ' = '])}${escaped(random.pick(['"', "'"]))} path=/v1`,
      true,
    ],
    lineInQuotes: () => [
      `${before}"${wireName}: ${value.text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}", "b"`,
      bare,
    ],
    json: () => [
      before +
        JSON.stringify(random.pick([object, { headers: object }, [textPairs], { rawHeaders: textPairs.flat() }])) +
        after,
      true,
    ],
    jsonIndented: () => [
      before +
        JSON.stringify(random.pick([object, { headers: object }, textPairs, textPairs.flat()]), null, indent) +
        after,
      true,
    ],
    jsonTwice: () => [before + JSON.stringify({ body: JSON.stringify({ headers: object }) }) + after, true],
    jsonThrice: () => [JSON.stringify(JSON.stringify(JSON.stringify({ a: 1, headers: object }))), true],
    jsonNamed: () => [
      before +
        JSON.stringify(
          textPairs.map(([key, text]) => ({ name: key, value: text })),
          null,
          random.pick([undefined, 2]),
        ) +
        after,
      true,
    ],
    jsonCut: () => {
      const whole = JSON.stringify({ headers: { a: 1, [name]: value.text, z: 'x'.repeat(50) } })
      return [whole.slice(0, whole.lastIndexOf(token) + token.length + random.pick([0, 1, 2, 9])), true]
    },
    inspect: () => [
      before +
        inspect(
          { headers: object },
          {
            depth: 9,
            breakLength: random.pick([40, 80, Infinity]),
            compact: random.pick<number | boolean>([3, false, true, 1]),
          },
        ) +
        after,
      true,
    ],
    inspectColors: () => [inspect({ headers: object }, { depth: 9, colors: true }), true],
    inspectMap: () => [
      before + inspect(new Map(textPairs), { breakLength: random.pick([80, Infinity]) }) + after,
      true,
    ],
    inspectPairs: () => [
      before +
        inspect(random.pick<unknown>([textPairs, textPairs.flat()]), { breakLength: random.pick([80, Infinity]) }) +
        after,
      true,
    ],
    inspectNamed: () => [before + inspect(textPairs.map(([key, text]) => ({ name: key, value: text }))) + after, true],
    inspectDump: () => [
      before +
        inspect({ dump: `GET / HTTP/1.1${end}${wire.join(end)}` }, { breakLength: random.pick([80, Infinity]) }) +
        after,
      bare,
    ],
    inspectError: () => [
      inspect(Object.assign(new Error('failed'), { config: { headers: object } }), { depth: 9 }),
      true,
    ],
    dump: () => [
      `${random.pick(['GET /v1?a=b HTTP/1.1', 'HTTP/1.1 401 Unauthorized', 'POST / HTTP/2'])}${end}${wire.join(end)}${end}${end}${random.pick(['', '{"a":1}'])}`,
      bare,
    ],
    verbose: () => [wire.map((line) => `${random.pick(['>', '<', '*'])} ${line}`).join('\n'), bare],
    curl: () => [
      `curl -X POST ${wire.map((line) => `${random.pick(['-H', '--header'])} ${inspectQuote(line)}`).join(random.pick([' ', ' \\\n  ']))} https://api.example.com/v1 -d '{}'`,
      bare && !value.text.includes("'"),
    ],
    list: () => [`${before}'${name}', ${escaped("'")}${after}`, true],
    parameter: () => [`${before}GET /v1?a=b&${name}=${encodeURIComponent(value.text)}&c=d${after}`, true],
    logfmt: () => [`level=info ${name}=${escaped('"')} path=/v1 status=200`, true],
    subscript: () => [`${before}req.headers['${name}']${random.pick([' = ', ': '])}${escaped("'")}`, false],
    bearer: () => [
      `${before}${random.pick(['Bearer ', 'Basic ', 'bearer ', 'BEARER ', 'Bearer  '])}${token}${random.pick(['', ' rejected', '"', ')', ', 401', '\n'])}${after}`,
      true,
    ],
    auth: () => [
      `${before}${random.pick([`auth: 'user:${token}'`, `"auth":"user:${token}"`, `auth: { username: 'u', password: '${token}' }`, `"auth":{"username":"u","password":"${token}"}`, `auth: {\n  username: 'u',\n  password: '${token}'\n}`])}${after}`,
      true,
    ],
    format: () => [`${before}${name}${random.pick([': ', ' = '])}${JSON.stringify(given)}${after}`, true],
    formatInspect: () => [`${before}${name}${random.pick([': ', ' = '])}${inspect(given, { depth: 9 })}${after}`, true],
    doubled: () => [`${name}: a=b\n${name}: ${value.text}`, bare],
    two: () => [`cookie: "a=b", ${name}: ${escaped('"')}, x: 1`, true],
    array: () => [`${before}${name}: [ ${escaped("'")}, ${escaped("'")} ]${after}`, true],
  }
  const [kind, [text, promised]] = random.make(forms)
  return { kind: `text.${kind}/${value.label}`, promised, text }
}

function inspectQuote(line: string): string {
  return line.includes("'") ? `"${line.replaceAll('"', '\\"')}"` : `'${line}'`
}

const SCHEMES = [
  'https',
  'http',
  'postgres',
  'postgresql',
  'redis',
  'rediss',
  'mongodb+srv',
  'mongodb',
  'amqp',
  'amqps',
  'mysql',
  'ftp',
  'nats',
  'wss',
  'smtp',
  'HTTPS',
  'git+ssh',
  'jdbc:postgresql',
]
const PARAMETERS = [
  'token',
  'password',
  'secret',
  'authorization',
  'api_key',
  'access_token',
  'Token',
  'accessToken',
  'access-token',
  'API-KEY',
  'apikey',
  'ApiKey',
  'user[password]',
  'user.password',
  'user%5Bpassword%5D',
  'PASSWORD',
  'a[b][token]',
]

function url(random: Random, token: string): Form {
  const host = random.pick([
    'db.example.com',
    'localhost:5432',
    '10.0.0.1',
    '[::1]:6379',
    'a.example.com:27017,b.example.com:27017',
  ])
  const user = random.pick([
    `user:${token}`,
    token,
    `:${token}`,
    `user:p@${token}`,
    `user:a%40${token}`,
    `us%20er:${token}`,
    `user:a:b:${token}`,
    `user:$%^&*+=${token}`,
    `u@corp.com:${token}`,
    `user:pä—ß${token}`,
    `user:${'x'.repeat(900)}${token}`,
  ])
  const parameter = random.pick(PARAMETERS)
  const value = random.pick([
    token,
    `a%20${token}`,
    `a+${token}`,
    `${token}==`,
    `a=${token}`,
    `%22${token}%22`,
    `a,b:${token}`,
    `a/b?c:${token}`,
    `ä${token}`,
    `${'y'.repeat(2000)}${token}`,
    `a%0A${token}`,
    `a%26b%3D${token}`,
  ])
  const query = random.pick([
    `?${parameter}=${value}`,
    `?page=2&${parameter}=${value}`,
    `?page=2&${parameter}=${value}&sort=asc`,
    `?${parameter}=${value}#top`,
    `?${parameter}[]=${value}`,
    `?a&${parameter}=${value}`,
    `?a=b&amp;${parameter}=${value}`,
    `?${parameter}=x&${parameter}=${value}`,
  ])
  const withUser = `${random.pick(SCHEMES)}://${user}@${host}${random.pick(['', '/', '/app?sslmode=require', '/v1/a@b', '?x=y', '#top'])}`
  const withQuery = `${random.pick(['https://api.example.com/v1', '/v1', '/', '', 'https://h', '//h/p', 'v1/items', 'http://[::1]:80/a'])}${query}`
  const [kind, plain] = random.pick([
    ['user', withUser],
    ['user', withUser],
    ['query', withQuery],
    ['query', withQuery],
    ['fragment', `https://app.example.com/cb#${parameter}=${value}&state=1`],
  ] as const)
  const wrap = random.pick<readonly [string, (inner: string) => string]>([
    ['plain', (inner) => inner],
    ['plain', (inner) => inner],
    ['once', (inner) => `https://login.example.com/?next=${encodeURIComponent(inner)}`],
    [
      'twice',
      (inner) => `/login?next=${encodeURIComponent(`https://x.example.com/?u=${encodeURIComponent(inner)}`)}&a=b`,
    ],
    ['encoded', (inner) => encodeURIComponent(inner)],
    ['slashes', (inner) => inner.replaceAll('/', '\\/')],
    ['json', (inner) => JSON.stringify({ url: inner, n: 1 })],
    ['jsonTwice', (inner) => JSON.stringify({ body: JSON.stringify({ url: inner }) })],
    ['inspect', (inner) => inspect({ url: inner })],
    ['angle', (inner) => `<${inner}>`],
    ['quoted', (inner) => `"${inner}"`],
    ['parenthesis', (inner) => `(${inner})`],
    ['markdown', (inner) => `[link](${inner})`],
    ['assigned', (inner) => `DATABASE_URL=${inner} PORT=1`],
    ['request', (inner) => `GET ${inner} HTTP/1.1\r\nHost: x`],
    ['list', (inner) => `${inner},${inner}`],
    ['urlObject', (inner) => (URL.canParse(inner) ? inspect(new URL(inner)) : inner)],
  ])
  const text = wrap[1](plain)
  return {
    kind: `url.${kind}/${wrap[0]}`,
    promised: kind !== 'fragment' && !(wrap[0] === 'urlObject' && text !== plain),
    text:
      random.pick(['', '', 'connect ECONNREFUSED ', 'GET ', 'failed: ', 'url=']) +
      text +
      random.pick(['', '', ' failed', ': 401', '\n']),
  }
}

function parameters(random: Random, token: string): Form {
  const name = random.pick(PARAMETERS.filter((parameter) => !parameter.includes('%')))
  const container = random.pick(['query', 'params', 'queryParams', 'searchParams', 'queryStringParameters'])
  const value = random.pick<unknown>([token, [token], ['a', token], { a: token }, `a b\n"${token}`])
  const shape = random.pick<unknown>([
    { page: 2, [name]: value },
    [
      ['page', '2'],
      [name, value],
    ],
    [
      { name: 'page', value: '2' },
      { name, value },
    ],
    ['page', '2', name, value],
    { filter: { [name]: value } },
  ])
  const flat = Array.isArray(shape) && shape[0] === 'page'
  return {
    kind: `params.${Array.isArray(shape) ? (flat ? 'flat' : 'list') : 'object'}`,
    promised: !flat,
    members: { [container]: shape },
  }
}

/** Whole errors and requests of known libraries */
function library(random: Random, token: string): Form {
  const secret = random.pick([
    `sid=${token}`,
    `Bearer ${token}`,
    token,
    `{"password":"${token}"}`,
    `password=${token}&x=1`,
  ])
  const headers = {
    accept: '*/*',
    [random.pick(['cookie', 'Authorization', 'x-custom', 'x-signature', 'X-Api-Key'])]: secret,
  }
  const body = random.pick<unknown>([secret, { password: token, deep: [{ token }] }, [secret], Buffer.from('x')])
  const sensitive = typeof body === 'object' && Buffer.isBuffer(body) ? secret : body
  const error = (name: string, message: string, members: object): Error =>
    Object.assign(new Error(message), { name, ...members })
  const message = 'Request failed with status code 401'
  const config = random.pick<object>([
    { headers, url: '/v1', method: 'post' },
    { data: sensitive, method: 'post' },
    { auth: { username: 'u', password: token } },
    { httpsAgent: { options: { key: token, cert: 'x' } } },
    { proxy: { host: 'p', auth: { username: 'u', password: token } } },
    { transformRequest: [null], headers: { common: headers, post: {} } },
    { url: `https://u:${token}@h/` },
    { baseURL: 'https://h', url: `/a?token=${token}` },
  ])
  const requests = random.pick<object>([
    { headers },
    { _header: `GET / HTTP/1.1\r\nCookie: ${secret}\r\n\r\n` },
    { body: sensitive },
    { socket: { _httpMessage: { headers } } },
    { agent: { sockets: { h: [{ auth: secret }] } } },
  ])
  const responses = random.pick<object>([
    { status: 401, data: sensitive },
    { status: 401, headers: { 'set-cookie': [secret] } },
    { status: 401, config },
    { request: requests },
    { body: sensitive },
    { rawBody: sensitive, rawHeaders: ['Set-Cookie', secret] },
  ])
  const part = random.pick<object>([{ config }, { request: requests }, { response: responses }])
  const statement = random.pick([
    `INSERT INTO users (email, pw) VALUES ('a', '${token}')`,
    `select * from t where pw = '${token}' and a = 1`,
    `UPDATE t SET pw='it''s ${token}' WHERE id=2`,
    `SELECT "c" FROM t WHERE c = E'a\\'${token}'`,
    `/* c */ SELECT ${Number(token) || 12} , 'a', N'${token}'`,
  ])
  const http = random.pick<object>([
    { headers },
    { body: sensitive },
    { raw: { headers } },
    { rawHeaders: Object.entries(headers).flat() },
    { cookies: { sid: token } },
    { url: `/a?token=${token}`, headers: {} },
    { query: { token } },
    { params: { password: token } },
    { _header: `HTTP/1.1 200 OK\r\nSet-Cookie: ${secret}` },
    { payload: sensitive },
  ])
  const forms: Record<string, () => Omit<Form, 'kind' | 'promised'> & { promised?: boolean }> = {
    axios: () => ({
      err: error('AxiosError', message, { code: 'ERR_BAD_REQUEST', status: 401, isAxiosError: true, ...part }),
    }),
    axiosCause: () => ({
      err: new Error('wrapped', {
        cause: error('AxiosError', message, { code: 'ERR_BAD_REQUEST', isAxiosError: true, ...part }),
      }),
    }),
    axiosAggregate: () => ({
      err: new AggregateError([error('AxiosError', message, { isAxiosError: true, ...part })], 'all failed'),
    }),
    got: () => ({
      err: error('HTTPError', 'Response code 401', {
        code: 'ERR_NON_2XX_3XX_RESPONSE',
        options: { method: 'GET', headers, url: '/v1', password: token, json: sensitive },
        response: responses,
        timings: { start: 1 },
      }),
    }),
    undici: () => ({
      err: error('ResponseStatusCodeError', 'Response status code 401', {
        code: 'UND_ERR_RESPONSE_STATUS_CODE',
        statusCode: 401,
        headers: random.pick<unknown>([headers, Object.entries(headers).flat()]),
        body: sensitive,
      }),
    }),
    fetch: () => ({
      err: new TypeError('fetch failed', {
        cause: error('ConnectTimeoutError', `connect https://u:${token}@h`, { code: 'UND_ERR_CONNECT_TIMEOUT' }),
      }),
    }),
    ky: () => ({
      err: error('HTTPError', message, { request: requests, response: responses, options: { headers, method: 'get' } }),
    }),
    superagent: () => ({
      err: error('Error', 'Unauthorized', {
        status: 401,
        response: {
          req: { headers, method: 'GET' },
          header: { 'set-cookie': [secret] },
          text: String(secret),
          status: 401,
        },
      }),
    }),
    aws: () => ({
      err: error('AccessDeniedException', 'denied', {
        $fault: 'client',
        $metadata: { httpStatusCode: 403, requestId: 'r' },
        $response: { statusCode: 403, headers: { 'set-cookie': secret, ...headers }, body: sensitive },
      }),
    }),
    graphql: () => ({
      err: error('ClientError', 'GraphQL Error', {
        response: { status: 400, headers, data: sensitive },
        request: { query: '{a}', variables: { password: token } },
      }),
    }),
    octokit: () => ({
      err: error('HttpError', 'Bad credentials', {
        status: 401,
        request: { method: 'GET', url: `/u?access_token=${token}`, headers: { authorization: `token ${token}` } },
        response: { headers, data: sensitive },
      }),
    }),
    mysql: () => ({
      err: error('Error', 'ER_DUP_ENTRY', { code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000', sql: statement }),
    }),
    sequelize: () => ({
      err: error('SequelizeDatabaseError', 'bad', {
        parent: error('error', 'bad', {
          code: '42P01',
          sql: `select $$${token}$$, $a$${token}$a$`,
          parameters: ['a', token],
        }),
        original: error('error', 'bad', { sql: statement, parameters: [token] }),
        sql: statement,
        parameters: { pw: token },
      }),
    }),
    typeorm: () => ({
      err: error('QueryFailedError', 'duplicate key', {
        query: 'INSERT INTO t VALUES ($1)',
        parameters: [token, 2],
        driverError: error('error', 'duplicate', { code: '23505' }),
      }),
    }),
    drizzle: () => ({ err: error('DrizzleQueryError', 'Failed query', { query: 'select $1', params: [token] }) }),
    ioredis: () => ({ err: error('ReplyError', 'ERR value', { command: { name: 'set', args: ['k', token] } }) }),
    redis: () => ({
      err: error('AbortError', 'aborted', { code: 'UNCERTAIN_STATE', command: 'AUTH', args: ['user', token] }),
    }),
    mongo: () => ({
      err: error('MongoBulkWriteError', 'E11000', {
        code: 11000,
        writeErrors: [{ code: 11000, err: { index: 0, op: { pw: token } } }],
      }),
    }),
    mongoInsert: () => ({
      err: error('MongoBulkWriteError', 'E11000', {
        writeErrors: [{ code: 11000, index: 0, op: { _id: 1, pw: token } }],
      }),
    }),
    req: () => ({ members: { req: { method: 'GET', url: '/a', ...http } } }),
    res: () => ({ members: { res: { statusCode: 200, ...http } } }),
    request: () => ({ members: { request: { method: 'GET', ...http } } }),
    response: () => ({ members: { response: { statusCode: 500, ...http } } }),
    both: () => ({
      members: {
        req: {
          method: 'GET',
          url: `/a?x=1&token=${token}`,
          headers: { ...headers, 'user-agent': `curl Cookie: ${secret}` },
        },
        res: { statusCode: 401, headers: { 'set-cookie': [secret] } },
        responseTime: 12,
      },
    }),
  }
  const [kind, form] = random.make(forms)
  const text = JSON.stringify(form.members ?? '')
  const promised = !text.includes('"raw":')
  return { kind: `library.${kind}`, promised, ...form }
}

/** A text at any place of a log call */
function placeText(random: Random, text: string): [string, unknown[]] {
  const error = (): Error => new Error(text)
  const places: Record<string, () => unknown[]> = {
    message: () => [text],
    message2: () => [{ a: 1 }, text],
    interpolated: () => ['failed: %s', text],
    errMessage: () => [error()],
    errMessage2: () => [{ err: error() }, 'failed'],
    errKey: () => [{ error: error() }, 'failed'],
    stack: () => [
      { err: Object.assign(new Error('failed'), { stack: `Error: failed\n${text}\n    at run (/app/a.js:1:2)` }) },
    ],
    cause: () => [{ err: new Error('outer', { cause: error() }) }],
    causes: () => [new Error('outer', { cause: new TypeError('middle', { cause: error() }) })],
    causeText: () => [{ err: new Error('outer', { cause: text }) }],
    aggregate: () => [{ err: new AggregateError([new Error('a'), error()], 'all failed') }],
    errMember: () => [{ err: Object.assign(new Error('failed'), { code: 'E', detail: text }) }],
    errDeep: () => [{ err: Object.assign(new Error('failed'), { info: { list: [{ text }] } }) }],
    errName: () => [{ err: Object.assign(new Error('failed'), { name: text }) }],
    errCode: () => [{ err: Object.assign(new Error('failed'), { code: text }) }],
    member: () => [
      { [random.pick(['note', 'output', 'stderr', 'body', 'details', 'reason', 'command', 'line', 'cmd'])]: text },
      'done',
    ],
    deep: () => [{ a: { b: [{ c: [[text]] }] } }, 'done'],
    list: () => [{ lines: ['a', text, 'b'] }],
    key: () => [{ map: { [text]: 1 } }],
    topKey: () => [{ [text]: 1 }],
    json: () => [{ payload: JSON.stringify({ text }) }],
    jsonTwice: () => [JSON.stringify(JSON.stringify({ text }))],
    user: () => [{ user: { id: text, email: text, name: text } }],
    mapped: () => [
      {
        [random.pick([
          'source',
          'trace_id',
          'traceId',
          'span_id',
          'reqId',
          'requestId',
          'service',
          'environment',
          'release',
          'release_id',
          'tags',
          'userId',
          'event',
          'type',
          'hostname',
          'name',
          'host',
          'version',
          'logger',
          'stack',
          'url',
          'method',
          'path',
          'route',
          'user_id',
          'session_id',
          'span',
          'trace',
        ])]: text,
      },
      'mapped',
    ],
    tags: () => [{ tags: [text, 'b'] }],
    ecs: () => [
      {
        error: { message: text, type: 'E', stack_trace: text },
        'http.route': text,
        'url.full': text,
        labels: { a: text },
      },
    ],
    request: () => [
      { req: { method: 'GET', url: text, headers: { 'user-agent': text } }, res: { statusCode: 200 }, responseTime: 3 },
      'request completed',
    ],
    requestId: () => [
      {
        req: { method: 'GET', url: '/a', id: text, remoteAddress: text, routePath: text },
        res: { statusCode: 500 },
        responseTime: 3,
        err: error(),
      },
      text,
    ],
    nested: () => [{ job: { err: { type: 'E', message: text, stack: text } } }],
    truncatedLate: () => [{ filler: 'f'.repeat(random.pick([100, 9000, 60_000])), text }, 'long'],
    longMessage: () => [`${'m'.repeat(random.pick([1000, 8000, 33_000]))} ${text}`],
  }
  return random.make(places)
}

function placeMembers(random: Random, members: Record<string, unknown>, isHttp: boolean): [string, unknown[]] {
  const places: Record<string, () => unknown[]> = {
    top: () => [members, 'done'],
    err: () => [{ err: Object.assign(new Error('failed'), members) }],
    cause: () => [{ err: new Error('outer', { cause: Object.assign(new Error('inner'), members) }) }],
    aggregate: () => [{ err: new AggregateError([Object.assign(new Error('inner'), members)], 'all') }],
    nested: () => [{ upstream: { call: members } }, 'done'],
    list: () => [{ calls: [{ n: 1 }, members] }],
    deep: () => [{ a: { b: { c: { d: { e: { f: [[members]] } } } } } }],
    json: () => [{ payload: JSON.stringify(members) }],
    format: () => ['sent %j', members],
    formatObject: () => ['sent %o', members],
    user: () => [{ user: { id: 'u', ...members } }],
    error: () => [{ error: { message: 'failed', type: 'E', ...members } }],
    late: () => [
      { filler: Array.from({ length: random.pick([3, 300, 3000]) }, (_, index) => `f${index}`), ...members },
    ],
  }
  return isHttp ? ['top', [members, 'done']] : random.make(places)
}

/** A text as it comes through a pipe: one of another program, or a record of another logger */
function pipeText(random: Random, text: string): [string, string] {
  const places: Record<string, () => string> = {
    raw: () => text,
    raw2: () => `2026-11-24T21:40:00Z INFO ${text}`,
    message: () => JSON.stringify({ level: 'info', message: text }),
    bunyan: () => JSON.stringify({ v: 0, level: 30, name: 'a', msg: 'x', detail: { text } }),
    indented: () =>
      JSON.stringify({ level: 'info', message: 'x', detail: { list: [text] } }, null, random.pick([2, 4, '\t'])),
    printed: () => `saved ${inspect({ id: 1, text }, { depth: 9 })}`,
    stack: () =>
      `Error: ${text.replaceAll(/\r?\n/g, ' ')}\n    at run (/app/a.js:1:2)\n    at next (/app/b.js:2:3) {\n  code: 'E'\n}`,
    cut: () => JSON.stringify({ level: 30, msg: text, tail: 'x'.repeat(80) }).slice(0, -random.pick([3, 30, 70])),
    prefixed: () => `app-1  | ${text.replaceAll(/\r?\n/g, ' ')}`,
  }
  return random.make(places)
}

/** Further forms that may be kept: `src/redaction/README.md` lists them as kept, or does not mention them. */
const NOT_PROMISED = new RegExp(
  [
    '^params.*@(?:json|format)', // as a text
    '^members\\.namedReversed.*@(?:json|format)', // a value before its name
    '^members\\.numberPair.*@(?:json|format)', // a number in a list in a text
    '^text\\.parameter/backtick', // encodeURIComponent encodes it
    '^text\\.line/(?:equals|marker)', // a comparison, name === value; a marker after an equals sign
    '^text\\.folded/.*@printed', // text before the name hides that the string is indented less than its line
    '^text\\.list/.*@errName', // a colon after the list
  ].join('|'),
)

export function* generateSecrets(seed: number, count: number): Generator<GeneratedSecret> {
  const random = new Random(seed)
  for (let index = 0; index < count; index += 1) {
    const number = `${String(index).padStart(6, '0')}${random.below(90_000) + 10_000}`
    const token = random.chance(0.03)
      ? `7077${number}`
      : `zq7${index.toString(36).padStart(6, '0')}${Number(number.slice(6)).toString(36)}x9k`
    const form = random.pick([headerMembers, headerText, headerText, url, parameters, library])(random, token)
    const isLine = form.text !== undefined && random.chance(0.35)
    const [place, placed] = isLine ? pipeText(random, form.text) : placeForm(random, form)
    const kind = `${form.kind}@${place}`
    const promised = form.promised && !NOT_PROMISED.test(kind)
    yield { token, kind, promised, ...(typeof placed === 'string' ? { text: placed } : { log: placed }) }
  }
}

function placeForm(random: Random, { kind, text, members, err }: Form): [string, unknown[]] {
  if (text !== undefined) return placeText(random, text)
  if (members !== undefined) return placeMembers(random, members, kind.startsWith('library'))
  return random.make<unknown[]>({
    error: () => [err],
    err: () => [{ err }, 'failed'],
    cause: () => [{ err: new Error('outer', { cause: err }) }],
  })
}
