/** `pino-ingest tail` as a process: its end, and a token that changes. */
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findTokenFile } from '../../../src/cli/shared/token-store.js'
import type { IngestService } from '../../../src/service/index.js'
import { lastingPort } from '../../reusable-port.mjs'
import { entryOf, ingest, started, until } from '../../service/support.js'
import { devEnv, send, startText } from '../dev-started.js'
import { startCli } from '../run-cli.js'
import type { RunningCli } from '../run-cli.js'

const TOKEN = 'token-of-the-tests_16'

function tail({ origin }: IngestService, args: readonly string[] = []): RunningCli {
  return startCli(['tail', '--url', origin, ...args], { PINO_INGEST_DEV_TOKEN: TOKEN })
}

async function hears(running: RunningCli, text: string): Promise<void> {
  await until(() => running.said().includes(text), 20_000)
}

test('continues with the new token, if it changed at a restart and the user can read it', async () => {
  const env = devEnv()
  const first = await startText(['--port', String(await lastingPort())], env)
  const running = startCli(['tail', '--url', first.origin], env)
  await send(first.url, entryOf({ message: 'before' }))
  await hears(running, 'before')
  first.running.child.kill('SIGTERM')
  await first.running.done
  await hears(running, 'cannot be reached')
  rmSync(findTokenFile(env))
  const port = new URL(first.origin).port
  const second = await startText(['--port', port], env)
  expect(second.token).not.toBe(first.token)
  await send(second.url, entryOf({ message: 'after' }))
  await hears(running, 'after')
  second.running.child.kill('SIGTERM')
  await second.running.done
  await started({ port: Number(port), token: 'of-somebody-else_16' })
  const { code, stderr } = await running.done
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /pino-ingest: the local service at http:\S+ does not have the token from \S+dev-token; .* set PINO_INGEST_DEV_TOKEN to /,
  )
})

test('ends with 0 when its output is closed, and by a signal while the service is away', async () => {
  const at = await started({ token: TOKEN })
  const [closed, signalled] = [tail(at), tail(at)]
  for (const one of [closed, signalled]) await hears(one, 'waiting for entries')
  closed.child.stdout.destroy()
  while (closed.child.exitCode === null) await ingest(at, [entryOf({ message: 'into the broken pipe' })])
  expect((await closed.done).code).toBe(0)
  await at.close()
  await hears(signalled, 'cannot be reached')
  signalled.child.kill('SIGTERM')
  expect((await signalled.done).code).toBe(0)
})
