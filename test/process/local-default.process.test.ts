/** Without a URL only the local service of this user receives data, even if another program has its port. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CLI, hasNamespaces, privateNetwork } from './local-network.js'
import type { Network, Running } from './local-network.js'

const KEY = 'configured-key-4711'
const PREVIOUS = 'previous-key-4711'
const MONITOR = 'monitor-token-4711'
const TOKEN = 'local-token-of-this-user-4711'
const MARKER = 'logged-4711'
const SECRETS = [KEY, PREVIOUS, MONITOR, TOKEN, MARKER]
const CHALLENGES_ONLY =
  /^(?:GET \/local\/status HTTP\/1\.1\r\nHost: 127\.0\.0\.1:4319\r\nx-pino-ingest-challenge: [\w-]{22}\r\n\r\n)+$/

const isRoot = process.getuid?.() === 0
if (!hasNamespaces || !isRoot)
  process.stderr.write(
    'test/process/local-default.process.test.ts is skipped: it needs root, unshare and ip for a network and a second user\n',
  )

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** A user with a token who has set a key and no URL. */
async function network(extra: Record<string, string> = {}): Promise<{ net: Network; log: string }> {
  const home = mkdtempSync(join(tmpdir(), 'pino-ingest-local-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  mkdirSync(join(home, 'pino-ingest'), { mode: 0o700 })
  writeFileSync(join(home, 'pino-ingest', 'dev-token'), `${TOKEN}\n`, { mode: 0o600 })
  const log = join(home, 'app.log')
  writeFileSync(log, `{"level":30,"time":1700000000000,"msg":"${MARKER}-file"}\n`)
  const net = await privateNetwork({
    MARKER,
    MONITOR,
    XDG_STATE_HOME: home,
    PINO_INGEST_API_KEY: KEY,
    PINO_INGEST_PREVIOUS_API_KEYS: PREVIOUS,
    PINO_INGEST_SPOOL_DIR: '',
    PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '5000',
    PINO_INGEST_MONITOR_TOKEN: MONITOR,
    PINO_INGEST_RETRY_MIN_MS: '20',
    PINO_INGEST_RETRY_MAX_MS: '100',
    ...extra,
  })
  return { net, log }
}

async function listening(running: Running, said: () => string, text: string): Promise<Running> {
  await expect.poll(said, { timeout: 30_000 }).toContain(text)
  return running
}

function foreign(net: Network): Promise<Running> {
  const running = net.run([script('local-listener.mjs')])
  return listening(running, running.stderr, 'listens as 12345')
}

function ownService(net: Network): Promise<Running> {
  const running = net.run([CLI, 'dev'])
  return listening(running, running.stdout, 'Stored in memory')
}

interface Everything {
  readonly app: { readonly outcomes: Record<string, string>; readonly problems: readonly string[] }
  /** The output of each command. */
  readonly codes: Record<string, number | null>
  readonly stderr: Record<string, string>
  readonly doctor: readonly {
    readonly name: string
    readonly ok: boolean
    readonly detail: string
    readonly fix?: string
  }[]
}

/** Runs everything that may send, concurrently. */
async function runEverything(net: Network, log: string): Promise<Everything> {
  const commands: Record<string, Running> = {
    app: net.run([script('local-app.mjs')]),
    pipe: net.run([CLI]),
    release: net.run([CLI, 'release', '--version', `${MARKER}-1`]),
    feedback: net.run([CLI, 'feedback', '--event', `${MARKER}-event`, '--comments', `${MARKER}-feedback`]),
    heartbeat: net.run([CLI, 'heartbeat']),
    doctor: net.run([CLI, 'doctor', '--json']),
    send: net.run([CLI, 'send', log]),
  }
  commands['pipe']?.end(`{"level":30,"msg":"${MARKER}-pipe"}\n`)
  const ended = await Promise.all(
    Object.entries(commands).map(async ([name, running]) => [name, await running.done, running] as const),
  )
  const printed = (name: string): unknown => {
    const { stdout = () => '', stderr = () => '' } = commands[name] ?? {}
    expect(stdout(), stderr()).not.toBe('')
    return JSON.parse(stdout())
  }
  return {
    codes: Object.fromEntries(ended.map(([name, code]) => [name, code])),
    stderr: Object.fromEntries(ended.map(([name, , running]) => [name, running.stderr()])),
    app: printed('app') as Everything['app'],
    doctor: printed('doctor') as Everything['doctor'],
  }
}

describe.skipIf(!hasNamespaces || !isRoot)('without a URL', { timeout: 120_000 }, () => {
  test("another user's program on the port receives no entries, key or token", async () => {
    const { net, log } = await network()
    const listener = await foreign(net)
    const { codes, stderr, app, doctor } = await runEverything(net, log)

    const bytes = listener.stdout()
    expect(SECRETS.filter((secret) => bytes.includes(secret))).toEqual([])
    expect(bytes).toMatch(CHALLENGES_ONLY)
    expect(codes).toEqual({ app: 0, pipe: 1, release: 1, feedback: 1, heartbeat: 1, doctor: 1, send: 1 })
    expect(app.outcomes).toEqual({
      registerRelease: 'MISDIRECTED',
      sendFeedback: 'MISDIRECTED',
      heartbeat: 'MISDIRECTED',
      ingest: 'MISDIRECTED',
    })
    expect(app.problems).toEqual(expect.arrayContaining(['CONFIG', 'MISDIRECTED']))
    for (const name of ['pipe', 'release', 'feedback', 'heartbeat', 'send']) {
      const lines = stderr[name]?.split('\n') ?? []
      expect(
        lines.filter((line) => line.includes('PINO_INGEST_API_KEY') && !line.includes('PINO_INGEST_DEV_TOKEN')),
        name,
      ).toHaveLength(1)
      expect(lines, name).toContainEqual(
        expect.stringMatching(/127\.0\.0\.1:4319 is not a local service.*PINO_INGEST_URL/),
      )
    }
    expect(Object.values(stderr).join('')).not.toMatch(new RegExp([KEY, PREVIOUS, MONITOR, TOKEN].join('|')))
    expect(doctor.filter(({ ok }) => !ok)).toMatchObject([
      {
        name: 'address',
        detail: expect.stringContaining('4319') as string,
        fix: expect.stringContaining('PINO_INGEST_URL') as string,
      },
    ])
    expect(doctor).toContainEqual(
      expect.objectContaining({
        name: 'apiKey',
        ok: true,
        fix: expect.stringContaining('PINO_INGEST_API_KEY') as string,
      }),
    )
  })

  test('the service of this user receives everything, with the fixed key', async () => {
    const { net, log } = await network()
    const service = net.run([script('local-service.mjs')])
    await listening(service, service.stdout, 'it listens')
    const { codes, app } = await runEverything(net, log)

    expect(codes).toEqual({ app: 0, pipe: 0, release: 0, feedback: 0, heartbeat: 0, doctor: 0, send: 0 })
    expect(app).toEqual({
      outcomes: { registerRelease: 'done', sendFeedback: 'done', heartbeat: 'done', ingest: 'done' },
      problems: ['CONFIG'],
    })
    for (const what of ['worker', 'stream', 'pipe', 'file', 'client', 'helper', 'feedback', 'release', '1']) {
      await expect.poll(service.stdout, { timeout: 20_000 }).toContain(`${MARKER}-${what}`)
    }
    expect(service.stdout()).not.toMatch(new RegExp([KEY, PREVIOUS, MONITOR].join('|')))
  })

  test('a program that takes the port of a stopped service receives nothing; the service receives everything when it is back', async () => {
    const { net } = await network()
    const first = await ownService(net)
    const app = net.run([script('local-app.mjs'), 'until-stdin-ends'])
    await expect.poll(first.stdout, { timeout: 30_000 }).toContain(`${MARKER}-0;`)

    await first.stop()
    const listener = await foreign(net)
    await expect.poll(() => listener.stdout().split('GET /local/status').length, { timeout: 30_000 }).toBeGreaterThan(3)
    app.write('how many?\n')
    await expect.poll(app.stdout, { timeout: 30_000 }).toMatch(/\d+\n/)
    const last = Number(app.stdout()) - 1
    await listener.stop()
    expect(listener.stdout()).toMatch(CHALLENGES_ONLY)
    expect(app.stderr().match(/^.*4319 is not a local service.*$/gm)).toHaveLength(1)

    const second = await ownService(net)
    await expect.poll(second.stdout, { timeout: 30_000 }).toContain(`${MARKER}-${last};`)
    app.end()
    expect(await app.done).toBe(0)
    const arrived = new Set(
      [...(first.stdout() + second.stdout()).matchAll(new RegExp(`${MARKER}-(\\d+);`, 'g'))].map(([, number]) =>
        Number(number),
      ),
    )
    expect(Array.from({ length: last + 1 }, (_, number) => number).filter((number) => !arrived.has(number))).toEqual([])
  })

  test.each(['worker', 'stream'])('a short program (%s) ends at once if nothing listens, and says why', async (way) => {
    const { net } = await network({ PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '8000' })
    const startedAt = performance.now()
    const app = net.run([script('short-app.mjs'), way])
    expect(await app.done).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(7_500)
    expect(app.stderr()).toMatch(/dropped 3 entries.*127\.0\.0\.1:4319.*npx pino-ingest dev/)
    const service = await ownService(net)
    const other = net.run([script('short-app.mjs'), way])
    expect(await other.done).toBe(0)
    expect(other.stderr()).not.toContain('dropped')
    await service.stop()
  })
})
