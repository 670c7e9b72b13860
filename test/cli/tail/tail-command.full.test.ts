/** `pino-ingest tail` whose output is not read, with 19 MB of entries. */
import { expect, test } from 'vitest'
import type { IngestService } from '../../../src/service/index.js'
import { entryOf, ingest, started, until } from '../../service/support.js'
import { startCli } from '../run-cli.js'
import type { RunningCli } from '../run-cli.js'

const TOKEN = 'token-of-the-tests_16'

function tail({ origin }: IngestService, args: readonly string[] = []): RunningCli {
  return startCli(['tail', '--url', origin, ...args], { PINO_INGEST_DEV_TOKEN: TOKEN })
}

async function hears(running: RunningCli, text: string): Promise<void> {
  await until(() => running.said().includes(text), 20_000)
}

test('reports how many entries it skipped because its output was not read', async () => {
  const at = await started({ token: TOKEN })
  const unread = tail(at)
  await hears(unread, 'waiting for entries')
  unread.child.stdout.pause()
  // This reader receives each round before the next one is sent, so it skips nothing.
  const read = tail(at, ['round'])
  await ingest(at, [entryOf({ message: 'round 0.' })])
  await hears(read, 'round 0.')
  // 19 MB exceed the buffers of sockets and pipes.
  const rounds = 14
  const batches = 5
  const batch = Array.from({ length: 99 }, () =>
    entryOf({ message: '€'.repeat(500), error: { type: '€'.repeat(200), message: '€'.repeat(200) } }),
  )
  for (let round = 1; round <= rounds; round += 1) {
    for (let count = 0; count < batches; count += 1) await ingest(at, batch)
    await ingest(at, [entryOf({ message: `round ${round}.` })])
    await hears(read, `round ${round}.`)
  }
  unread.child.stdout.resume()
  await hears(unread, `round ${rounds}.`)
  for (const one of [unread, read]) one.child.kill('SIGINT')
  const { stdout, stderr } = await unread.done
  // A busy machine may interrupt the stream, which then continues with the next entry.
  expect((await read.done).stderr).not.toContain('skipped')
  const skipped = [...stderr.matchAll(/tail: ([\d,]+) entr(?:y|ies) skipped/g)].reduce(
    (total, [, count = '']) => total + Number(count.replaceAll(',', '')),
    0,
  )
  expect(skipped).toBeGreaterThan(0)
  expect(stdout.toString().match(/€\n|round \d+\.\n/g)).toHaveLength(rounds * (batches * 99 + 1) + 1 - skipped)
}, 60_000)
