/** A logger that no later code uses: its records still reach a service that is down at first. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../../src/service/index.js'
import { cleanEnv } from '../../process/run-app.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const APP = `
import pino from '${ROOT}node_modules/pino/pino.js'
import { ingestOptions } from '${ROOT}dist/esm/index.js'
const options = { url: process.env.URL, apiKey: 'any', spool: false }
const logger = pino(ingestOptions({ transport: { target: '${ROOT}dist/cjs/index.js', options } }))
logger.info('one')
logger.info('two')
setInterval(() => gc(), 100)
process.on('SIGTERM', () => process.exit())
`

test('the worker of a logger that V8 could collect delivers its records', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-collected-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'app.mjs'), APP)
  const port = await freePort()
  const app = spawn(process.execPath, ['--expose-gc', join(dir, 'app.mjs')], {
    env: cleanEnv({ URL: `http://127.0.0.1:${port}/api/v1` }),
    stdio: 'ignore',
  })
  onTestFinished(() => void app.kill('SIGKILL'))
  // The first attempts fail, and the garbage is collected repeatedly.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const service = await createIngestService({ port, apiKeys: ['any'] })
  onTestFinished(() => service.close())
  await expect.poll(() => service.arrived, { timeout: 15_000 }).toBe(2)
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
