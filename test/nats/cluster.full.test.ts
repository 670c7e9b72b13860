/** A cluster of three: its streams, and a fleet while nodes fail: nothing is lost or duplicated. `test/fleet` has the long runs. */
import { connect } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import { describe, expect, test } from 'vitest'
import { runCli } from '../cli/run-cli.js'
import { run } from '../fleet/run.mjs'
import { SCENARIOS } from '../fleet/scenarios.mjs'
import { natsServers, SKIPS_NATS } from './nats-servers.js'

const TESTED = ['leader', 'all', 'deleted']
const PER_SECOND = 100

describe.skipIf(SKIPS_NATS).concurrent('a fleet continues when', () => {
  const scenarios = SCENARIOS.filter(({ key }) => TESTED.includes(key))
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s',
    { timeout: 120_000 },
    async (_name, scenario) => {
      // While other tests run, an election may take longer.
      const outcome = await run(
        { ...scenario, ...(scenario.seconds !== 0 && { seconds: 20 }), maxPauseMs: 60_000 },
        { perSecond: PER_SECOND },
      )
      expect(outcome).toMatchObject({ lost: 0, duplicated: 0, wrong: [] })
      expect(outcome.expected).toBeGreaterThan(0)
    },
  )
})

test.skipIf(SKIPS_NATS)('forward init creates three replicas', { timeout: 120_000 }, async ({ onTestFinished }) => {
  const { urls } = await natsServers({ nodes: 3 }, onTestFinished)
  const sizes = ['--max-bytes', '10mb', '--max-dead-bytes', '1mb', '--max-state-bytes', '1mb']
  const { code } = await runCli(['forward', 'init', ...sizes], { PINO_INGEST_NATS_SERVERS: urls.join() })
  expect(code).toBe(0)
  const connection = await connect({ servers: urls })
  onTestFinished(() => connection.close())
  const { streams } = await jetstreamManager(connection)
  expect((await streams.info('PINO_INGEST')).config.num_replicas).toBe(3)
})
