/** An application with too many open files for a while: entries on disk keep waiting. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { started } from '../service/support.js'
import { cleanEnv } from './run-app.js'

const APP = fileURLToPath(new URL('descriptors.mjs', import.meta.url))

test.skipIf(platform() === 'win32')(
  'delivers a backlog of 30,000 entries after 3 s of too many open files',
  async () => {
    const service = await started()
    const env = cleanEnv({ URL: service.url })
    const child = spawn('sh', ['-c', 'ulimit -n 256 && exec "$0" "$1"', process.execPath, APP], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
    await once(child, 'close')
    const { state, dropped, problems } = JSON.parse(text) as {
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
