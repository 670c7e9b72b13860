/** Runs the demo: it exits with 0, and its output matches the stored entries. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { createIngestService, validateEntry } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { headingsOf } from '../markdown.js'
import { startCli } from '../cli/run-cli.js'
import { cleanEnv } from '../process/run-app.js'

const DEMO = fileURLToPath(new URL('demo/main.mjs', import.meta.url))
/** Long, so that only a hanging process exceeds it, also on a loaded machine. */
const DEMO_TIMEOUT_MS = 30_000

interface Printed {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function startDemo(args: readonly string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [DEMO, ...args], { env: cleanEnv(env), stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text
    })
  }
  const done = once(child, 'close').then(([code]): Printed => ({ code: code as number | null, ...printed }))
  return { child, printed, done }
}

/** `name  count` lines below a title. */
function countsBelow(title: string, stdout: string): Record<string, number> {
  const block = new RegExp(`  ${title}\\n((?: {4}\\S+ +\\d+.*\\n)+)`).exec(stdout)?.[1] ?? ''
  return Object.fromEntries([...block.matchAll(/^ {4}(\S+) +(\d+)/gm)].map(([, name, count]) => [name, Number(count)]))
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}

describe('npm run demo', () => {
  test('prints consistent counts, valid entries, and one trace through both services', async () => {
    // Settings in the shell for another application must not change the output.
    const { code, stdout, stderr } = await startDemo([], {
      PINO_INGEST_URL: 'https://elsewhere.invalid/api/v1',
      PINO_INGEST_ENABLED: 'false',
    }).done
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).not.toContain('\u001b')

    const [, requests, lines, arrived, batches, sizes = ''] =
      /For (\d+) requests the shop logged (\d+) lines; (\d+) entries arrived, in (\d+) batch(?:es)? of (.+)\./.exec(
        stdout,
      ) ?? []
    const batchSizes = sizes.split(/, | and /).map(Number)
    expect(Number(requests)).toBe(41)
    expect(Number(lines)).toBeGreaterThan(100)
    expect(arrived).toBe(lines)
    expect(batchSizes).toHaveLength(Number(batches))
    expect(batchSizes.reduce((total, size) => total + size, 0)).toBe(Number(arrived))
    expect(Math.max(...batchSizes)).toBeLessThanOrEqual(100)

    const byLevel = countsBelow('by level', stdout)
    expect(Object.keys(byLevel)).toEqual(['debug', 'info', 'warn', 'error', 'fatal'])
    expect(Math.min(...Object.values(byLevel))).toBeGreaterThan(0)
    expect(sum(byLevel)).toBe(Number(arrived))
    const byService = countsBelow('by service', stdout)
    expect(Object.keys(byService)).toEqual(['shop', 'inventory'])
    expect(sum(byService)).toBe(Number(arrived))

    const entries = [...stdout.matchAll(/^\{\n[\s\S]*?^\}$/gm)].map(([json]) => JSON.parse(json) as LogEntry)
    expect(entries.map((entry) => validateEntry(entry))).toEqual([[], [], []])
    const [failed, http, order] = entries
    const [, newer] = /2\.6\.0 is rel_\w+, 2\.7\.0 is (rel_\w+)\n/.exec(stdout) ?? []
    expect(newer).toBeDefined()
    for (const entry of entries) expect(entry.release_id).toBe(newer)
    expect(failed?.metadata?.['event_id']).toMatch(/^[0-9a-f-]{36}$/)
    // One for each request to the shop, and one for each request from the shop to the inventory.
    expect(Number(/requests {2}(\d+) of 10 routes\n/.exec(stdout)?.[1])).toBeGreaterThan(Number(requests))
    expect(stdout).toMatch(/monitors {2}[0-9a-f]{12}, [0-9a-f]{12}: /)
    expect(stdout).toMatch(/feedback {2}Ada, on a failed payment: "/)
    expect(stdout).toMatch(/refused {3}logs\.0\.level must be one of/)
    expect(failed).toMatchObject({
      level: 'error',
      service: 'shop',
      environment: 'demo',
      version: '2.7.0',
      request: { method: 'POST', path: '/orders', status_code: 502, user_agent: 'shop-web/3.1' },
      error: {
        type: 'PaymentError',
        message: 'payment could not be completed',
      },
      trace: {
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        span_id: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      },
      source: expect.stringMatching(/demo\/payments\.mjs:\d+:\d+$/) as string,
    })
    expect(failed?.error?.stack?.match(/^caused by: /gm)).toHaveLength(2)
    expect(http).toMatchObject({
      level: 'info',
      service: 'shop',
      request: { method: 'GET', path: '/products', status_code: 200 },
    })
    expect(order).toMatchObject({
      level: 'info',
      message: 'order placed',
      user: { name: 'Ada' },
      tags: ['orders'],
      action: 'order.placed',
      metadata: { level: 'audit', sku: 'mug' },
    })

    const trace = [...stdout.matchAll(/^ +\+(\d+) ms {2}(\w+) +(shop|inventory) /gm)]
    expect(new Set(trace.map(([, , , service]) => service))).toEqual(new Set(['shop', 'inventory']))
    const after = trace.map(([, ms]) => Number(ms))
    expect(after).toEqual(after.toSorted((a, b) => a - b))

    const [, section] = /"([^"]+)" in README\.md/.exec(stdout.trimEnd().split('\n').at(-1) ?? '') ?? []
    expect(headingsOf('README.md')).toContain(section)
  })

  test('uses a free port if 4319 is taken; with --keep it runs until Ctrl-C, and the printed links and commands work', async () => {
    const other = createServer().listen(4319, '127.0.0.1')
    // If another process already uses the port, that is just as good.
    await new Promise((settled) => {
      other.once('listening', settled).once('error', settled)
    })
    const { child, printed, done } = startDemo(['--keep'])
    onTestFinished(() => void child.kill('SIGKILL'))
    // By then the shop has been started twice.
    await expect.poll(() => printed.stdout + printed.stderr, { timeout: DEMO_TIMEOUT_MS }).toContain('until Ctrl-C')
    other.close()
    expect(printed.stdout).toContain('Port 4319 is taken')
    const [, url = ''] = /PINO_INGEST_URL=(\S+)/.exec(printed.stdout) ?? []
    const { origin } = new URL(url)
    const [, page = ''] = /(http:\S+\/#token=\S+)/.exec(printed.stdout) ?? []
    expect(new URL(page).origin).toBe(origin)
    expect((await fetch(page)).headers.get('content-type')).toMatch(/^text\/html/)
    const token = new URLSearchParams(new URL(page).hash.slice(1)).get('token') ?? ''
    const total = async (query: string): Promise<number> => {
      const answer = await fetch(`${origin}/local/counts?${query}`, { headers: { authorization: `Bearer ${token}` } })
      return ((await answer.json()) as { total: number }).total
    }
    const ofTheDay = sum(countsBelow('by level', printed.stdout))
    await expect.poll(() => total(''), { timeout: DEMO_TIMEOUT_MS }).toBeGreaterThan(ofTheDay)
    const orders = await total('q=order.placed')
    await expect.poll(() => total('q=order.placed'), { timeout: DEMO_TIMEOUT_MS }).toBeGreaterThan(orders)
    const links = [...printed.stdout.matchAll(/http:\S+\/local\/\S+/g)].map(([link]) => link)
    expect(links).toHaveLength(4)
    for (const link of links) {
      expect({ link, status: (await fetch(link)).status }).toEqual({ link, status: 200 })
    }
    const [, given = '', tailArgs = ''] =
      /PINO_INGEST_DEV_TOKEN=(\S+) npx pino-ingest (tail .+)\n/.exec(printed.stdout) ?? []
    const tail = startCli([...tailArgs.split(' '), '--lines', '1'], { PINO_INGEST_DEV_TOKEN: given })
    await expect
      .poll(() => tail.said(), { timeout: DEMO_TIMEOUT_MS })
      .toMatch(/ (?:shop|inventory) .*\n(?:.*\n)*.* (?:shop|inventory) .*\n/)
    tail.child.kill('SIGINT')
    expect(await tail.done).toMatchObject({ code: 0 })

    child.kill('SIGINT')
    expect(await done).toMatchObject({ code: 0, stderr: '' })
  }, 150_000)
})

test('names missing entries', async () => {
  // Through a variable: the demo is plain JavaScript, without types.
  const expectations: string = new URL('demo/expectations.mjs', import.meta.url).href
  const { problemsOf } = (await import(expectations)) as {
    problemsOf: (service: IngestService, run: object) => string[]
  }
  const service = await createIngestService()
  const problems = problemsOf(service, {
    requests: { count: 41, surprises: ['GET / was answered 500, not 200'] },
    logged: 130,
    exitCode: 1,
  })
  await service.close()
  expect(problems).toContain('130 lines were logged, but 0 entries arrived')
  expect(problems).toContain('the application ended with 1, not 0')
  expect(problems).toContain('GET / was answered 500, not 200')
  expect(problems).toContain('no trace has entries of both services')
  expect(problems).toContain('41 requests were sent to the shop, but not as many request logs of it arrived')
  expect(problems).toContain('2 releases were registered, but 0 arrived')
  expect(problems).toContain('an entry does not carry the id of the newer release')
  expect(problems).toContain('2 monitors were pinged, but 0 arrived')
  expect(problems).toContain('the feedback on the failed payment did not arrive')
  expect(problems).toContain('the rejected entries are not exactly the one of the till; see /local/rejected')
})
