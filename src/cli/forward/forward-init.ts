/** `pino-ingest forward init`: creates what a fleet needs in JetStream, or compares what exists. It changes and deletes nothing. */
import { describeSetupFailure, setUpFleet } from '../../nats/fleet-setup.js'
import type { FleetItem } from '../../nats/fleet-setup.js'
import { createUsageError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { NATS_NOTE, openNatsSession, resolveNatsSettings } from '../shared/nats-session.js'
import { formatJsonLine, printable } from '../shared/printable.js'
import { parseBytes } from '../shared/quantities.js'
import type { NamedSize } from '../../nats/config-check.js'
import type { StreamSizes } from '../../nats/streams.js'

const GIB = 2 ** 30
const DEFAULT_REPLICAS = 3
/** A batch can be as long as `max_payload` of the servers, 1 MiB by default. */
const MIN_MAX_BYTES = 2 ** 20
/** At 540 bytes an entry, 1,000 entries a second for 3.3 hours. Small enough for the volume of NATS's Helm chart, 10 GiB, with the others. */
const DEFAULT_MAX_BYTES = 6 * GIB
/** About two million rejected entries. */
const DEFAULT_MAX_DEAD_BYTES = GIB
/** At 98 bytes a batch, a week of 18 batches a second. */
const DEFAULT_MAX_STATE_BYTES = GIB

export const forwardInitCommand: Command = {
  summary:
    'Creates the stream, the dead-letter stream, the bucket and the consumers of a fleet in NATS JetStream, or says how existing ones differ. It never changes or deletes one.',
  usage: ['pino-ingest forward init [FLAGS]'],
  flags: {
    replicas: { value: '1|3|5', meaning: `copies of each batch, each on another server (${DEFAULT_REPLICAS})` },
    'max-bytes': { value: 'SIZE', meaning: 'limit of the batches that wait, reserved on each server at once (6gb)' },
    'max-dead-bytes': { value: 'SIZE', meaning: 'limit of rejected entries; the oldest are deleted (1gb)' },
    'max-state-bytes': {
      value: 'SIZE',
      meaning: 'limit of the ids of delivered batches; the oldest are deleted (1gb)',
    },
  },
  notes: [
    NATS_NOTE,
    'Replicas and sizes that are not named are not compared: existing streams may have any.',
    'With --json it prints one object: ok, items. An item has kind, name, status (created, ok, differs, failed), differences, and a problem and a fix if it failed.',
    'Exit codes: 0 everything is set up, 1 something differs or failed, 2 wrong flags or configuration.',
  ],
  jsonFailuresTo: 'stdout',
  run,
}

async function run(given: Arguments): Promise<number> {
  const { sizes, named } = parseSizes(given)
  const session = await openNatsSession('forward init', resolveNatsSettings())
  let items: readonly FleetItem[]
  try {
    items = await setUpFleet(session.manager, session.names, { sizes, named }, (error) =>
      describeSetupFailure(error, session.describe(error), sizes.replicas),
    )
  } finally {
    await session.close()
  }
  const isOk = items.every(({ status }) => status === 'created' || status === 'ok')
  process.stdout.write(given.switches.has('json') ? formatJsonLine({ ok: isOk, items }) : formatItems(items, isOk))
  return isOk ? EXIT_DONE : EXIT_FAILED
}

type Named = Readonly<Record<'queue' | 'dead' | 'bucket', ReadonlySet<NamedSize>>>

function parseSizes({ texts }: Arguments): { readonly sizes: StreamSizes; readonly named: Named } {
  const replicasText = texts.get('replicas') ?? String(DEFAULT_REPLICAS)
  if (!['1', '3', '5'].includes(replicasText))
    throw createUsageError(`--replicas must be 1, 3 or 5, got ${JSON.stringify(replicasText)}`)
  const bytes = (flag: string, byDefault: number): number => {
    const text = texts.get(flag)
    return text === undefined ? byDefault : parseBytes(flag, text)
  }
  const maxBytes = bytes('max-bytes', DEFAULT_MAX_BYTES)
  if (maxBytes < MIN_MAX_BYTES) throw createUsageError('--max-bytes must be at least 1mb: a batch can be as long')
  const namedSizes = (flag: string): ReadonlySet<NamedSize> =>
    new Set([
      ...(texts.has('replicas') ? (['num_replicas'] as const) : []),
      ...(texts.has(flag) ? (['max_bytes'] as const) : []),
    ])
  return {
    sizes: {
      replicas: Number(replicasText),
      maxBytes,
      maxDeadBytes: bytes('max-dead-bytes', DEFAULT_MAX_DEAD_BYTES),
      maxStateBytes: bytes('max-state-bytes', DEFAULT_MAX_STATE_BYTES),
    },
    named: {
      queue: namedSizes('max-bytes'),
      dead: namedSizes('max-dead-bytes'),
      bucket: namedSizes('max-state-bytes'),
    },
  }
}

function formatItems(items: readonly FleetItem[], isOk: boolean): string {
  const width = Math.max(...items.map(({ kind }) => kind.length))
  const lines = items.flatMap(({ kind, name, status, differences, problem, fix }) => [
    `${status.padEnd('differs'.length)}  ${kind.padEnd(width)}  ${name}`,
    ...(problem === undefined ? [] : [`         ${problem}`]),
    ...(fix === undefined ? [] : [`         -> ${fix}`]),
    ...differences.flatMap((one) => [
      `         ${one.setting} is ${one.is}, should be ${one.shouldBe}`,
      `         -> ${one.fix}`,
    ]),
  ])
  const end = isOk
    ? 'Everything is set up.'
    : 'Existing streams and consumers were not changed. Correct the above, then run it again.'
  return [...lines, end].map((line) => `${printable(line)}\n`).join('')
}
