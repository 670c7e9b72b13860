/** `pino-ingest doctor` in processes that cannot run WebAssembly, which undici needs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { cleanEnv } from '../../process/run-app.js'
import { started } from '../../service/support.js'
import { CLI } from '../run-cli.js'

// Node 24 reserves less address space.
const canBeTooSmall = process.platform === 'linux' && Number(process.versions.node.split('.')[0]) < 24

test.each([
  ['--jitless', '', '--jitless', true],
  ['', 'ulimit -v 8000000 &&', '--disable-wasm-trap-handler', canBeTooSmall],
  ['--disable-wasm-trap-handler', 'ulimit -v 8000000 &&', undefined, canBeTooSmall],
] as const)('Node options %j, %s: the fix is %s', async (options, limit, fix, isPossible) => {
  if (!isPossible) return
  const service = await started()
  const child = spawn('sh', ['-c', `${limit} exec "${process.execPath}" "${CLI}" doctor --json`], {
    env: cleanEnv({ PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: 'any-key-1', NODE_OPTIONS: options }),
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let json = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (json += part))
  await once(child, 'close')
  const failed = (JSON.parse(json) as { ok: boolean }[]).filter(({ ok }) => !ok)
  expect(failed).toMatchObject(
    fix === undefined
      ? []
      : [{ name: 'address', detail: expect.stringContaining('WebAssembly'), fix: expect.stringContaining(fix) }],
  )
})
