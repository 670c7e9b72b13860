/** An application with too many open files for a while: entries on disk keep waiting. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:os'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { started } from '../service/support.js'
import { cleanEnv } from './run-app.js'

interface Result {
  readonly state: string
  readonly dropped: readonly unknown[]
  readonly problems: readonly string[]
  readonly failedShare?: number
}

/** Runs the text of a program that logs numbered records, with a limit of open files. @returns its result */
async function runLimited(limit: number, url: string, options: object, text: string): Promise<Result> {
  const program = `
    import { closeSync, openSync } from 'node:fs'
    import { once } from 'node:events'
    import { setTimeout as sleep } from 'node:timers/promises'
    import pino from 'pino'
    import { flush, ingestStream } from 'pino-ingest'
    const stream = ingestStream(${JSON.stringify({ url, apiKey: 'a-key', logTo: 'silent', ...options })})
    const [dropped, problems] = [[], []]
    stream.on('ingest:dropped', (drop) => dropped.push(drop))
    stream.on('ingest:problem', ({ message }) => problems.push(message))
    const logger = pino(stream)
    const log = (from, to) => { for (let n = from; n < to; n += 1) logger.info({ n }, 'numbered') }
    const open = () => openSync('/dev/null', 'r')
    const finish = async () => (await flush(logger, { timeoutMs: 60_000 })).state
    const end = (result) => { console.log(JSON.stringify({ dropped, problems, ...result })); stream.end() }
    ${text}`
  const args = ['--input-type=module', '-e', program]
  const child = spawn('sh', ['-c', `ulimit -n ${limit} && exec "$0" "$@"`, process.execPath, ...args], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: cleanEnv(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part))
  await once(child, 'close')
  return JSON.parse(output) as Result
}

describe.skipIf(platform() === 'win32')('too many open files', { timeout: 90_000 }, () => {
  test('for 3 s: delivers a backlog of 30,000 entries afterwards', async () => {
    const service = await started()
    // The connection is opened before and kept open.
    const program = `
      log(0, 1)
      await once(stream, 'ingest:delivered')
      log(1, 30_000)
      const opened = []
      try { for (;;) opened.push(open()) } catch (error) { if (error.code !== 'EMFILE') throw error }
      await sleep(3_000)
      opened.forEach(closeSync)
      end({ state: await finish() })`
    const options = { maxBufferBytes: 1024 * 1024, maxConcurrency: 1 }
    const { state, dropped, problems } = await runLimited(256, service.url, options, program)
    expect({ state, dropped, arrived: service.arrived }).toEqual({
      state: 'acknowledged',
      dropped: [],
      arrived: 30_000,
    })
    expect(problems).toContainEqual(expect.stringContaining('EMFILE'))
  })

  test('because of a backlog: leaves enough to the application, and is no outage', async () => {
    const service = await started()
    service.faults.add({ kind: 'delay', delayMs: 150, times: 10_000 })
    const program = `
      log(0, 40_000)
      let [opened, failed] = [0, 0]
      const opening = setInterval(() => { try { closeSync(open()); opened += 1 } catch { failed += 1 } }, 5)
      const state = await finish()
      clearInterval(opening)
      end({ state, failedShare: failed / (opened + failed) })`
    const { state, problems, failedShare } = await runLimited(100, service.url, { maxConcurrency: 128 }, program)
    expect({ state, arrived: service.arrived }).toEqual({ state: 'acknowledged', arrived: 40_000 })
    expect(problems).not.toContainEqual(expect.stringContaining('127.0.0.1'))
    expect(failedShare).toBeLessThan(0.2)
  })
})
