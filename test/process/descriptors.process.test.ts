/** An application with too many open files for a while: entries on disk keep waiting. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { started } from '../service/support.js'
import { cleanEnv } from './run-app.js'

const programOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Runs a program with a limit of open files. @returns what it writes to stdout, as JSON */
async function runLimited(program: string, limit: number, url: string): Promise<unknown> {
  const child = spawn('sh', ['-c', `ulimit -n ${limit} && exec "$0" "$1"`, process.execPath, programOf(program)], {
    env: cleanEnv({ URL: url }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  await once(child, 'close')
  return JSON.parse(text)
}

test.skipIf(platform() === 'win32')(
  'delivers a backlog of 30,000 entries after 3 s of too many open files',
  async () => {
    const service = await started()
    const { state, dropped, problems } = (await runLimited('descriptors.mjs', 256, service.url)) as {
      state: string
      dropped: Record<string, number>
      problems: string[]
    }
    expect({ state, dropped, arrived: service.arrived }).toEqual({
      state: 'acknowledged',
      dropped: {},
      arrived: 30_000,
    })
    expect(problems).toContainEqual(expect.stringContaining('EMFILE'))
  },
  90_000,
)

test.skipIf(platform() === 'win32')(
  'a backlog that could use all file descriptors leaves enough to the application, and is no outage',
  async () => {
    const service = await started()
    service.faults.add({ kind: 'delay', delayMs: 150, times: 10_000 })
    const { state, problems, failedShare } = (await runLimited('backlog-descriptors.mjs', 100, service.url)) as {
      state: string
      problems: string[]
      failedShare: number
    }
    expect({ state, arrived: service.arrived }).toEqual({ state: 'acknowledged', arrived: 40_000 })
    expect(problems).not.toContainEqual(expect.stringContaining('127.0.0.1'))
    expect(failedShare).toBeLessThan(0.2)
  },
  90_000,
)
