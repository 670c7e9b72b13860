/** Runs the fleet demo at a small size: it exits with 0, and nothing is lost. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { HOW_TO_GET_NATS_SERVER, SKIPS_NATS } from '../nats/nats-servers.js'
import { cleanEnv } from '../process/run-app.js'

const DEMO = fileURLToPath(new URL('demo-fleet/main.mjs', import.meta.url))

async function runDemo(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [DEMO, ...args], { env: cleanEnv(env), stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

const numberAfter = (label: string, text: string): number =>
  Number(new RegExp(`^ *${label} +([\\d,]+)`, 'm').exec(text)?.[1]?.replaceAll(',', '') ?? Number.NaN)

test.skipIf(SKIPS_NATS)('nothing is lost with all three faults', { timeout: 180_000 }, async () => {
  const { code, stdout, stderr } = await runDemo(['--entries', '4000', '--seconds', '20', '--exit'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect([numberAfter('logged', stdout), numberAfter('arrived', stdout), numberAfter('lost', stdout)]).toEqual([
    4000, 4000, 0,
  ])
  expect(stdout.match(/SIGKILL/g)).toHaveLength(2)
  expect(stdout).toContain('The service is down')
})

test('without nats-server it shows how to install it', async () => {
  const { code, stdout, stderr } = await runDemo([], { NATS_SERVER_BIN: '/nowhere/nats-server' })
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `${HOW_TO_GET_NATS_SERVER}\n` })
})

test('a wrong number is refused', async () => {
  expect(await runDemo(['--entries', 'many'])).toMatchObject({ code: 2, stdout: '' })
})
