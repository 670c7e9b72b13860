/** `pino-ingest forward`: delivers batches from NATS JetStream to the log service until a signal. */
import type { EmitEvent } from '../../diagnostics/reporter.js'
import { toStreamNames } from '../../nats/message.js'
import { requireNats } from '../../nats/require-nats.js'
import { OPTION_TABLE } from '../../options/option-table.js'
import type { OptionName } from '../../options/option-table.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import { systemClock } from '../../shared/clock.js'
import { CommandError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatJsonLine, formatNumber, toPrintable } from '../shared/terminal.js'
import { resolveNatsSettings } from '../shared/nats-session.js'
import { requireEnabled } from '../shared/option-flags.js'
import { onTerminationSignal } from '../shared/child-process.js'
import { loadKv } from '../../forward/delivered-batches.js'
import { Forwarder } from '../../forward/forwarder.js'
import { parseMetricsAddress, startMetricsServer } from './metrics-server.js'

export const forwardRunCommand: Command = {
  examples: [
    ['npx pino-ingest forward', 'delivers until a signal'],
    ['npx pino-ingest forward --metrics 127.0.0.1:9464', 'also serves metrics and the readiness probe'],
  ],
  usage: ['pino-ingest forward [FLAGS]', 'pino-ingest forward COMMAND [FLAGS]', 'pino-ingest forward COMMAND --help'],
  flags: {
    metrics: {
      value: 'HOST:PORT',
      meaning: 'serves /metrics, /healthz (ready) and /livez, for example on 127.0.0.1:9464; without HOST on loopback',
    },
  },
  notes: [
    `PINO_INGEST_NATS_SERVERS, _NATS_CREDENTIALS_FILE and _NATS_STREAM select the queue, PINO_INGEST_URL and PINO_INGEST_API_KEY the
log service. Any number of forwarders may run side by side.`,
    `On SIGTERM it delivers the batches that it holds or returns them to the queue, within 10 s. A second signal ends it at once.`,
    `With --json, stderr has one JSON object per line: {"event":"forward:start",…}, ingest:problem and ingest:rejected as they happen,
and at the end forward:stop.`,
    'Exit codes: 0 stopped by a signal; 1 failed, or was ended by a second signal or after 10 s, before shutdown had finished; 2 invalid flags or configuration.',
  ],
  run,
}

/** Without `nats`, which would make the queue the destination. */
const SERVICE_OPTIONS = (Object.keys(OPTION_TABLE) as OptionName[]).filter((name) => name !== 'nats')
const PRINTED_EVENTS: readonly string[] = ['ingest:problem', 'ingest:rejected']
/** Orchestrators kill a process after 10 s. */
const MAX_STOP_MS = 9_800
/** Time for the last lines of output after it has stopped. */
const MAX_REST_MS = 200

async function run({ switches, texts }: Arguments): Promise<number> {
  const address = texts.get('metrics')
  const metricsAddress = address === undefined ? undefined : parseMetricsAddress(address)
  const asJson = switches.has('json')
  const nats = resolveNatsSettings()
  const settings = resolveFromProcess({}, SERVICE_OPTIONS)
  requireEnabled(settings)
  requireNats({ nats })
  await loadKv()
  const isSilent = settings.logTo === 'silent'
  const emit: EmitEvent = (event, payload) => {
    if (asJson && !isSilent && PRINTED_EVENTS.includes(event))
      process.stderr.write(formatJsonLine({ event, ...payload }))
  }
  const report = (event: string, data: object, text: string): void => {
    if (isSilent) return
    process.stderr.write(asJson ? formatJsonLine({ event, ...data }) : `pino-ingest: ${toPrintable(text)}\n`)
  }
  const forward = new Forwarder({
    settings,
    nats,
    secrets: [nats.credentials, ...settings.secrets].flatMap((secret) => secret?.reveal() ?? []),
    clock: systemClock,
    logTo: asJson ? 'silent' : settings.logTo,
    emit,
  })
  const server = metricsAddress && (await startMetricsServer(metricsAddress, forward))
  const { stream, subjects } = toStreamNames(nats)
  const start = {
    stream,
    subjects: Object.values(subjects),
    servers: nats.servers,
    url: settings.url,
    ...(server && { metrics: server.url }),
  }
  report(
    'forward:start',
    start,
    `forwards ${start.subjects.join(' and ')} of ${stream} at ${start.servers.join(', ')} to ${settings.url}${server === undefined ? '' : `, metrics on ${server.url}`}`,
  )
  const stopped = new Promise<void>((resolve) =>
    onTerminationSignal((times) => (times === 1 ? resolve() : process.exit(EXIT_FAILED))),
  )
  const unusable = await Promise.race([stopped, forward.start()])
  // Ends the process even if something hangs. Batches that it held are redelivered after `ack_wait`.
  const force = setTimeout(() => process.exit(EXIT_FAILED), MAX_STOP_MS)
  await forward.stop()
  server?.close()
  clearTimeout(force)
  const { totals } = forward
  const counts = Object.entries(totals).map(([outcome, count]) => `${formatNumber(count)} ${outcome}`)
  report('forward:stop', totals, `stopped; entries: ${counts.join(', ')}`)
  if (unusable !== undefined) throw new CommandError('VERSION', unusable, EXIT_FAILED)
  // The socket of a connection attempt to a hanging server would keep the process alive.
  setTimeout(() => process.exit(EXIT_DONE), MAX_REST_MS).unref()
  return EXIT_DONE
}
