/** `monitor()` sends a ping only after success, returns the job's result, and never fails the job. */
import { pino } from 'pino'
import { describe, expect, test, vi } from 'vitest'
import { monitor } from '../../../src/app/heartbeats/monitor.js'
import { failureOf } from '../../client/failure-of.js'
import { started } from '../../service/support.js'
import type { IngestService, IngestServiceOptions } from '../../../src/service/index.js'
import { withCleanEnv } from '../../client/release/clean-env.js'

const TOKEN = 'canary-token-4711'

withCleanEnv()

function serviceFor(options: IngestServiceOptions = {}): Promise<IngestService> {
  return started({ monitorTokens: [TOKEN], ...options })
}

/** A pino logger, and the lines it wrote. */
function logging(): { logger: ReturnType<typeof pino>; lines: () => Record<string, unknown>[] } {
  const written: string[] = []
  return {
    logger: pino({ errorKey: 'failure' }, { write: (line: string) => void written.push(line) }),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

const fail = (): never => {
  throw new Error('no')
}
const THROWER = { warn: fail, error: fail }

/** The text written to stderr while `run` is running. */
async function stderrOf(run: () => Promise<unknown>): Promise<string> {
  const written: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  try {
    await run()
  } finally {
    spy.mockRestore()
  }
  return written.join('')
}

describe('a job that succeeds', () => {
  test('sends one ping without the API key after the job, and then returns the result', async () => {
    const service = await serviceFor({ apiKeys: ['none-is-needed'] })
    const job = async (): Promise<number> => {
      await new Promise((resolve) => setImmediate(resolve))
      expect(service.requests).toEqual([])
      return 42
    }
    expect(await monitor(TOKEN, job, { url: service.url })).toBe(42)
    expect(service.requests).toMatchObject([{ endpoint: 'heartbeat', keyed: false, bytes: 0, status: 200 }])
    expect(await monitor(TOKEN, () => 43, { url: service.url })).toBe(43)
    expect(service.heartbeats().items).toHaveLength(2)
  })

  test('reports a rejected ping without the token, and still returns the result', async () => {
    const service = await serviceFor({ monitorTokens: ['another'] })
    const { logger, lines } = logging()
    expect(await monitor(TOKEN, () => 42, { url: service.url, logger })).toBe(42)
    expect(lines()).toMatchObject([{ level: 40, msg: expect.stringContaining('404') }])
    const reported = await stderrOf(async () => expect(await monitor(TOKEN, () => 42, { url: service.url })).toBe(42))
    expect(reported).toMatch(/^pino-ingest: the heartbeat of a job failed: .*404.*\n$/)
    expect(reported + JSON.stringify(lines())).not.toContain(TOKEN.slice(0, 8))
  })

  test('returns the result when the service is down and the logger throws', async () => {
    const service = await serviceFor()
    const { url } = service
    await service.close()
    const reported = await stderrOf(async () =>
      expect(await monitor(TOKEN, () => 42, { url, logger: THROWER, retry: { maxMs: 1 } })).toBe(42),
    )
    expect(reported).toMatch(/ECONNREFUSED/)
    expect(reported).not.toContain(TOKEN.slice(0, 8))
  })
})

describe('a job that fails', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('%s: sends no ping, logs the error and throws it again', async (_, job) => {
    const service = await serviceFor()
    const { logger, lines } = logging()
    await expect(monitor(TOKEN, job, { url: service.url, logger })).rejects.toThrow('disk full')
    expect(service.requests).toEqual([])
    expect(lines()).toMatchObject([
      {
        level: 50,
        msg: 'a monitored job failed',
        failure: { type: 'Error', message: 'disk full', stack: expect.stringContaining('monitor.test') },
      },
    ])
  })

  test('logs a thrown value that is not an error; a logger that throws does not hide the failure', async () => {
    const service = await serviceFor()
    const { logger, lines } = logging()
    await expect(monitor(TOKEN, () => Promise.reject('why'), { url: service.url, logger })).rejects.toBe('why')
    expect(lines()).toMatchObject([{ thrown: 'why' }])
    await stderrOf(() =>
      expect(
        monitor(TOKEN, () => Promise.reject(new Error('mine')), { url: service.url, logger: THROWER }),
      ).rejects.toThrow('mine'),
    )
  })
})

test('outside production and without a URL the job runs, and the ping is discarded', async () => {
  const reported = await stderrOf(async () => expect(await monitor(TOKEN, () => 42)).toBe(42))
  expect(reported).toBe('')
})

describe('invalid options are reported before the job starts', () => {
  test.each(['..', undefined])('token %j', async (token) => {
    const service = await serviceFor()
    const job = vi.fn()
    expect(await failureOf(monitor(token as string, job, { url: service.url }))).toMatchObject({
      code: 'INVALID',
    })
    expect(job).not.toHaveBeenCalled()
    expect(service.requests).toEqual([])
  })

  test.each<[object, string]>([
    [{ urll: 'x' }, 'did you mean url'],
    [{ url: 'http://127.0.0.1:1/api/v1', timeoutMs: 0 }, 'timeoutMs'],
    [{}, 'PINO_INGEST_URL'],
  ])('options %j, in production', async (options, fact) => {
    const job = vi.fn()
    vi.stubEnv('NODE_ENV', 'production')
    const error = await failureOf<Error>(monitor(TOKEN, job, options), TOKEN)
    expect(error).toMatchObject({ code: 'CONFIG', message: expect.stringContaining(fact) })
    expect(error.message).not.toContain('apiKey')
    expect(job).not.toHaveBeenCalled()
  })
})
