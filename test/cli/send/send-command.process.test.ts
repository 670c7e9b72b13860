/** `pino-ingest send` with real files and the local service: some of these tests wait for a retry. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { IngestService, IngestServiceOptions } from '../../../src/service/index.js'
import { started, until } from '../../service/support.js'
import type { CliEnv } from '../run-cli.js'
import { runInProcess, startInProcess } from '../run-in-process.js'
import type { CommandResult } from '../run-in-process.js'

const KEY = 'send-key-77c1f0a2'

interface Bench {
  readonly dir: string
  readonly service: IngestService
  readonly env: CliEnv
}

async function bench(options: IngestServiceOptions = {}): Promise<Bench> {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-send-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const service = await started({ apiKeys: [KEY], ...options })
  return {
    dir,
    service,
    env: { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY, XDG_STATE_HOME: join(dir, 'state') },
  }
}

/** Lines of pino, each with a number. */
function linesOf(from: number, to: number): string {
  return Array.from(
    { length: to - from },
    (_, at) =>
      `{"level":30,"time":${1_767_225_600_000 + from + at},"pid":7,"hostname":"h","n":${from + at},"msg":"line ${from + at}"}\n`,
  ).join('')
}

/** Runs `send` and checks that its output does not contain the key. */
async function send(env: CliEnv, args: readonly string[], input: string | Buffer = ''): Promise<CommandResult> {
  const { code, out, err } = await runInProcess(['send', ...args], env, input)
  expect(out + err).not.toContain(KEY)
  // Runs of more than 5 s also print progress.
  return { code, out, err: err.replaceAll(/^pino-ingest send: .* entries\/s.*\n/gm, '') }
}

function fileIn({ dir }: Bench, name: string, content: string | Buffer): string {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}

/** The numbers of the entries, in order of arrival. */
function numbersAt(service: IngestService): number[] {
  return service
    .entries({ limit: Infinity })
    .items.toSorted((a, b) => a.seq - b.seq)
    .map(({ entry }) => entry.metadata?.['n'] as number)
}

function messagesAt(service: IngestService): string[] {
  return service
    .entries({ limit: Infinity })
    .items.toSorted((a, b) => a.seq - b.seq)
    .map(({ entry }) => entry.message)
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}

describe('files', () => {
  test('plain and gzip files, in order of arguments and lines, with the times of the lines', async () => {
    const place = await bench()
    const plain = fileIn(place, 'a.log', linesOf(0, 1_050))
    const packed = fileIn(
      place,
      'b.log',
      Buffer.concat([gzipSync(linesOf(1_050, 1_200)), gzipSync(linesOf(1_200, 1_300))]),
    )
    const result = await send(place.env, [plain, packed])
    expect(result).toMatchObject({ code: 0, err: '' })
    expect(result.out).toMatch(
      /^.*a\.log: sent 1,050 entries \(.*\)\n.*b\.log: sent 250 entries \(.*\)\n2 of 2 files complete: 1,300 entries sent in .*\n$/,
    )
    expect(numbersAt(place.service)).toEqual(upTo(1_300))
    const { entry } = place.service.entries({ limit: 1 }).items[0] ?? {}
    expect(entry).toMatchObject({
      timestamp: new Date(1_767_225_600_000 + 1_299).toISOString(),
      metadata: { pid: 7, hostname: 'h' },
    })
    expect(place.service.requests.every(({ entries }) => entries <= 100)).toBe(true)
  })

  test('any content: text, CRLF, BOM, NUL, invalid UTF-8, no newline at the end', async () => {
    const place = await bench()
    const bytes = Buffer.concat([
      Buffer.from('\ufefffirst\r\n\r\n\n{"level":30,"msg":"sécond ✓"}\r\n'),
      Buffer.from([0x62, 0xff, 0xc3, 0x0a]),
      Buffer.from('a\0b\n{"level":\nlast'),
    ])
    const mtime = Date.now()
    expect(await send(place.env, [fileIn(place, 'a.log', bytes)])).toMatchObject({
      code: 0,
      err: expect.stringContaining('a record of 9 characters is incomplete') as string,
    })
    expect(messagesAt(place.service)).toEqual(['first', 'sécond ✓', 'b\ufffd\ufffd', 'ab', '(no message)', 'last'])
    // A line without a time gets the file's modification time.
    for (const { entry } of place.service.entries().items)
      expect(Math.abs(Date.parse(entry.timestamp) - mtime)).toBeLessThan(5_000)
  })

  test('a line of many megabytes is one entry, and the next line is unchanged', async () => {
    const place = await bench()
    const path = fileIn(
      place,
      'a.log',
      `{"level":30,"msg":"${'x'.repeat(3_000_000)}"}\n${'é'.repeat(18_000_000)}\nafter\n`,
    )
    expect(await send(place.env, [path])).toMatchObject({ code: 0 })
    const messages = messagesAt(place.service)
    expect(messages).toHaveLength(3)
    expect(messages.at(-1)).toBe('after')
    expect(place.service.entries().items[1]?.entry.metadata).toMatchObject({
      pino_ingest: { cut_from_chars: 18_000_000 },
    })
    appendFileSync(path, 'more\n')
    expect(await send(place.env, [path])).toMatchObject({ code: 0 })
    expect(messagesAt(place.service).slice(3)).toEqual(['more'])
  })

  test('stdin; compressed input is refused with the command that unpacks it', async () => {
    const place = await bench()
    expect(await send(place.env, ['-'], linesOf(0, 250))).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^stdin: sent 250 entries/) as string,
    })
    expect(await send(place.env, ['-', '--quiet'], linesOf(250, 300))).toEqual({ code: 0, err: '', out: '' })
    expect(await send(place.env, ['-'], gzipSync(linesOf(0, 5)))).toMatchObject({
      code: 1,
      err: expect.stringContaining('gzip -dc FILE | pino-ingest send -') as string,
    })
    expect(numbersAt(place.service)).toEqual(upTo(300))
  })

  test('entries below the level are filtered and reported', async () => {
    const place = await bench()
    const path = fileIn(place, 'a.log', '{"level":10,"msg":"t"}\n{"level":20,"msg":"d"}\n{"level":30,"msg":"i"}\n')
    expect((await send(place.env, [path])).out).toContain(
      'sent 1 entry (69 B); filtered 2 below info (--restart --send-level trace sends all)',
    )
    expect((await send(place.env, [path, '--send-level', 'trace', '--restart'])).out).toContain('sent 3 entries')
    expect(messagesAt(place.service)).toEqual(['i', 't', 'd', 'i'])
  })

  test('redaction, sampling and beforeSend apply', async () => {
    const place = await bench()
    const hook = fileIn(
      place,
      'hook.mjs',
      'export default (entry) => entry.message === "drop" ? null : { ...entry, tags: ["hooked"] }\n',
    )
    const path = fileIn(
      place,
      'a.log',
      [
        '{"level":30,"time":1767225600000,"msg":"card of jo@example.com"}',
        '{"level":30,"time":1767225600000,"msg":"GET /x?token=s3cr3t"}',
        '{"level":30,"time":1767225600000,"msg":"drop"}',
        '{"level":40,"time":1767225600000,"msg":"warned"}',
        '',
      ].join('\n'),
    )
    const env = {
      ...place.env,
      PINO_INGEST_BEFORE_SEND: hook,
      PINO_INGEST_SCRUB_PATTERNS: 'email',
      PINO_INGEST_SAMPLE_WARN: '0',
    }
    const result = await send(env, [path])
    expect(result).toMatchObject({ code: 0, err: '' })
    expect(result.out).toContain('filtered 2 as configured')
    const entries = place.service.entries().items.map(({ entry }) => entry)
    expect(entries).toMatchObject([{ tags: ['hooked'] }, { tags: ['hooked'] }])
    expect(JSON.stringify(entries)).not.toMatch(/jo@example|s3cr3t/)
    expect(await send({ ...env, PINO_INGEST_BEFORE_SEND: `${hook}.none` }, [path])).toMatchObject({
      code: 2,
      err: expect.stringContaining('beforeSend') as string,
    })
  })

  test('inputs that are not logs are refused, the others are sent; exit 1', async () => {
    const place = await bench()
    mkdirSync(join(place.dir, 'folder'))
    const good = fileIn(place, 'a.log', linesOf(0, 5))
    const wide = fileIn(place, 'b.log', gzipSync(Buffer.from('\ufeffx\n', 'utf16le')))
    const result = await send(place.env, [join(place.dir, 'folder'), good, join(place.dir, 'none'), wide, good])
    expect(result.code).toBe(1)
    expect(result.err).toMatch(/folder: .*is a folder; .*\/folder\/\*\.log\n/)
    expect(result.err).toContain('cannot be read: there is no such file')
    expect(result.err).toContain('is UTF-16')
    expect(result.out).toContain('the same file as')
    expect(result.out).toContain('2 of 5 files complete: 5 entries sent')
    expect(numbersAt(place.service)).toEqual(upTo(5))
  })

  test('a damaged gzip file: earlier text is sent and the position of the damage reported; after a repair it continues', async () => {
    const place = await bench()
    const whole = gzipSync(linesOf(0, 5_000))
    const path = fileIn(place, 'a.log.gz', whole.subarray(0, whole.length - 5_000))
    const result = await send(place.env, [path])
    expect(result.code).toBe(1)
    expect(result.err).toMatch(/failed: .*damaged near byte \d+ \(unexpected end of file\)/)
    const before = numbersAt(place.service)
    expect(before.length).toBeGreaterThan(1_000)
    expect(before).toEqual(upTo(before.length))
    appendFileSync(path, whole.subarray(whole.length - 5_000))
    expect(await send(place.env, [path])).toMatchObject({ code: 0, err: '' })
    expect(numbersAt(place.service)).toEqual(upTo(5_000))
  })
})

describe('a second run', () => {
  test('sends nothing; with --restart it sends everything with other batch ids', async () => {
    const place = await bench({ dedupeBatches: true })
    const path = fileIn(place, 'a.log', linesOf(0, 250))
    await send(place.env, [path])
    expect(await send(place.env, [path])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(
        /a\.log: already sent \(250 entries, \d{4}-.*Z\); --restart sends it again\n$/,
      ) as string,
    })
    expect(place.service.arrived).toBe(250)
    expect(await send(place.env, [path, '--restart'])).toMatchObject({ code: 0, err: '' })
    expect(place.service.arrived).toBe(500)
  })

  test('with a file that has grown, was renamed, compressed or replaced', async () => {
    const place = await bench()
    const path = fileIn(place, 'app.log', linesOf(0, 120))
    await send(place.env, [path])
    appendFileSync(path, linesOf(120, 130))
    renameSync(path, `${path}.1`)
    fileIn(place, 'app.log', linesOf(130, 140))
    const { code, out, err } = await send(place.env, [`${path}.1`, path])
    expect(code).toBe(0)
    expect(out).toContain('app.log.1: sent 10 entries (820 B), after 120 of an earlier run')
    expect(err).toBe('')
    expect(numbersAt(place.service)).toEqual(upTo(140))
    writeFileSync(path, linesOf(500, 503))
    expect((await send(place.env, [path])).err).toContain('replaced or rewritten')
    expect(numbersAt(place.service)).toEqual([...upTo(140), 500, 501, 502])
    const packed = fileIn(place, 'old.gz', gzipSync(linesOf(140, 150)))
    await send(place.env, [packed])
    appendFileSync(packed, gzipSync(linesOf(150, 160)))
    await send(place.env, [packed])
    expect(numbersAt(place.service).slice(143)).toEqual(upTo(160).slice(140))
  })

  test('with another URL or key sends the file', async () => {
    const place = await bench({ apiKeys: [KEY, 'another-key-123', 'third-key-456'] })
    const path = fileIn(place, 'a.log', linesOf(0, 3))
    await send(place.env, [path])
    await send({ ...place.env, PINO_INGEST_API_KEY: 'another-key-123' }, [path])
    expect(place.service.arrived).toBe(6)
    // The former key is in previousApiKeys.
    await send({ ...place.env, PINO_INGEST_API_KEY: 'third-key-456', PINO_INGEST_PREVIOUS_API_KEYS: KEY }, [path])
    expect(place.service.arrived).toBe(6)
  })

  test('with --state writes nothing elsewhere', async () => {
    const place = await bench()
    const path = fileIn(place, 'a.log', linesOf(0, 3))
    const other = join(place.dir, 'other')
    expect(await send(place.env, [path, '--state', other])).toMatchObject({ code: 0 })
    expect(existsSync(join(place.dir, 'state'))).toBe(false)
    const files = readdirSync(other, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(files).toHaveLength(1)
    for (const { parentPath, name } of files) expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain(KEY)
  })
})

describe('an entry that the service rejects', () => {
  test('and that cannot be stored as a dead letter ends the command with the reason, also with --quiet', async () => {
    const place = await bench()
    place.service.faults.add({ kind: 'reject-every', nth: 50 })
    const path = fileIn(place, 'a.log', linesOf(0, 500))
    const [, folder = ''] = /stored with the reasons in (.*)\n/.exec((await send(place.env, [path])).err) ?? []
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')
    const { code, err } = await send(place.env, [path, '--restart', '--quiet'])
    expect([code, err]).toEqual([1, expect.stringContaining(`cannot be stored in ${folder}`)])
  })

  test('is counted and stored with the reason; the others are sent; exit 1', async () => {
    const place = await bench()
    place.service.faults.add({ kind: 'reject-every', nth: 50 })
    const path = fileIn(place, 'a.log', linesOf(0, 500))
    const result = await send(place.env, [path])
    expect(result.code).toBe(1)
    const [, folder = ''] =
      /the log service rejected 10 entries, stored with the reasons in (.*)\n/.exec(result.err) ?? []
    const letters = readFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { reason: string; entry: { metadata: { n: number } } })
    expect(letters).toHaveLength(10)
    expect(
      [...numbersAt(place.service), ...letters.map(({ entry }) => entry.metadata.n)].toSorted((a, b) => a - b),
    ).toEqual(upTo(500))
    const again = await send(place.env, [path])
    expect(again).toMatchObject({ code: 0, err: '' })
    expect(again.out).toContain('already sent (490 entries')
    expect(again.out).toContain(`the log service rejected 10 entries, stored with the reasons in ${folder}`)
    place.service.faults.clear()
    const env = { ...place.env, PINO_INGEST_SPOOL_DIR: join(place.dir, 'state', 'pino-ingest', 'send') }
    expect(await runInProcess(['spool', 'replay', 'dead'], env)).toMatchObject({ code: 0 })
    expect(numbersAt(place.service).toSorted((a, b) => a - b)).toEqual(upTo(500))
  })

  test('a wrong key ends the command immediately without a loss', async () => {
    const place = await bench({ apiKeys: ['the-right-key'] })
    const path = fileIn(place, 'a.log', linesOf(0, 300))
    const result = await send(place.env, [path])
    expect(result.code).toBe(1)
    expect(result.err).toMatch(/failed: .*PINO_INGEST_API_KEY.*status 401/)
    expect(result.err).not.toMatch(/failed: .*next attempt/)
    expect(await send({ ...place.env, PINO_INGEST_API_KEY: 'the-right-key' }, [path])).toMatchObject({ code: 0 })
    expect(numbersAt(place.service)).toEqual(upTo(300))
  })

  test('a gateway that rejects everything ends the command without dead letters', async () => {
    const place = await bench()
    place.service.faults.add({ kind: 'status', status: 400, body: { error: 'bad' } })
    const path = fileIn(place, 'a.log', linesOf(0, 3))
    const result = await send(place.env, [path])
    expect(result.code).toBe(1)
    expect(result.err).toContain('status 400')
    expect(result.err).not.toContain('rejected')
  })
})

describe('a rejection without a named entry', () => {
  const nameless = async (text: string): Promise<Bench> => {
    const place = await bench()
    place.service.faults.add({ kind: 'reject-containing', text, form: 'nameless' })
    return place
  }

  test('among valid batches: the bad entry is found and becomes a dead letter', async () => {
    const place = await nameless('"line 123"')
    const { code, err } = await send(place.env, [fileIn(place, 'a.log', linesOf(0, 450))])
    expect([code, err]).toEqual([1, expect.stringContaining('rejected 1 entry')])
    expect(numbersAt(place.service).toSorted((a, b) => a - b)).toEqual(upTo(450).filter((n) => n !== 123))
  })

  test('for the last batch: its entries are left for the next run, since the service may be at fault', async () => {
    const place = await nameless('"line 20')
    const path = fileIn(place, 'a.log', linesOf(100, 203))
    const { code, err } = await send(place.env, [path])
    expect([code, err]).toEqual([1, expect.stringMatching(/failed: .*status 400/)])
    expect(numbersAt(place.service)).toEqual(upTo(200).slice(100))
    place.service.faults.clear()
    expect(await send(place.env, [path])).toMatchObject({ code: 0, err: '' })
    expect(numbersAt(place.service)).toEqual(upTo(203).slice(100))
  })

  test('for the last batch of a file: the next file shows that the service works', async () => {
    const place = await nameless('"line 99"')
    const files = [fileIn(place, 'a.log', linesOf(0, 100)), fileIn(place, 'b.log', linesOf(100, 200))]
    const { code, out, err } = await send(place.env, files)
    expect([code, err]).toEqual([1, expect.stringContaining('a.log: sent 99 entries')])
    expect(out).toContain('b.log: sent 100 entries')
  })

  test('if the reply only counts it: exit 1', async () => {
    const place = await bench()
    place.service.faults.add({
      kind: 'status',
      status: 200,
      body: { accepted: 99, rejected: 1, message: '', errors: [] },
    })
    const { code, err } = await send(place.env, [fileIn(place, 'a.log', linesOf(0, 100))])
    expect([code, err]).toEqual([1, expect.stringContaining('1 entry')])
  })
})

describe('the service is down', () => {
  test('it waits and continues when the service is back', async () => {
    const place = await bench()
    place.service.faults.add({ kind: 'status', status: 503, times: 4 })
    const path = fileIn(place, 'a.log', linesOf(0, 1_000))
    const result = await send({ ...place.env, PINO_INGEST_RETRY_MAX_MS: '50' }, [path])
    expect(result).toMatchObject({ code: 0 })
    expect(numbersAt(place.service)).toEqual(upTo(1_000))
  })

  test('a signal ends it and reports the failure', async () => {
    const place = await bench()
    const path = fileIn(place, 'a.log', linesOf(0, 300))
    const { said, done } = startInProcess(['send', path], {
      ...place.env,
      PINO_INGEST_URL: 'http://127.0.0.1:1/api/v1',
    })
    await until(() => said().includes('ECONNREFUSED'), 20_000)
    process.emit('SIGINT')
    const { code, err } = await done
    expect([code, err]).toEqual([1, expect.stringContaining('interrupted')])
    expect(err).not.toContain(KEY)
  })
})

test('SIGHUP: waits for replies to requests in flight, and sends nothing twice', async () => {
  const place = await bench({ latencyMs: 20 })
  const path = fileIn(place, 'a.log', linesOf(0, 5_000))
  const { done } = startInProcess(['send', path], place.env)
  await until(() => place.service.arrived > 500, 20_000)
  process.emit('SIGHUP')
  expect(await done).toMatchObject({ code: 1 })
  expect(place.service.arrived).toBeLessThan(5_000)
  expect(await send(place.env, [path, '--concurrency', '8'])).toMatchObject({ code: 0 })
  expect(numbersAt(place.service).toSorted((a, b) => a - b)).toEqual(upTo(5_000))
})

test('a signal ends it while it waits for stdin', async () => {
  const place = await bench()
  const stdin = new PassThrough()
  const { done } = startInProcess(['send', '-'], place.env, stdin)
  stdin.write(linesOf(0, 250))
  await until(() => place.service.arrived === 200, 20_000)
  process.emit('SIGTERM')
  expect(await done).toMatchObject({ code: 1, err: expect.stringContaining('lost') })
})

describe('on the command line', () => {
  test('--json prints one object per file and one for the total', async () => {
    const place = await bench()
    const path = fileIn(place, 'a.log', linesOf(0, 7))
    const { code, out, err } = await send(place.env, [path, join(place.dir, 'none'), '--json'])
    expect({ code, err }).toEqual({ code: 1, err: '' })
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { result?: string })
        .toSorted((one, other) => (one.result ?? 'total').localeCompare(other.result ?? 'total')),
    ).toMatchObject([
      { result: 'failed', reason: expect.stringContaining('there is no such file') as string },
      { file: path, result: 'sent', accepted: 7, rejected: 0, filtered: 0, earlier: { accepted: 0 }, reason: null },
      { total: { files: 2, complete: 1, accepted: 7 } },
    ])
  })

  test.each([
    [[], 'needs the name of a FILE'],
    [['x', '--concurrency', '0'], '--concurrency'],
    [['x', '--send-level', 'loud'], 'sendLevel'],
    [['x', '--resart'], '--restart'],
  ])('%j: exit 2', async (args, message) => {
    expect(await send({}, args)).toMatchObject({ code: 2, err: expect.stringContaining(message) })
  })

  test('enabled false: exit 2 with the reason', async () => {
    const result = await send({ PINO_INGEST_URL: 'http://127.0.0.1:9/api/v1', PINO_INGEST_ENABLED: 'false' }, ['x'])
    expect(result).toMatchObject({ code: 2, err: expect.stringContaining('PINO_INGEST_ENABLED') as string })
  })
})
