/** `pino-ingest forward init`: creates a fleet's streams, bucket and consumers, or compares existing ones, which it never changes. */
import { describeSetupFailure, setUpFleet } from '../../nats/fleet-setup.js'
import type { FleetItem } from '../../nats/fleet-setup.js'
import { findOldServer } from '../../nats/server-version.js'
import { CommandError, createUsageError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { NATS_NOTE, openNatsSession, resolveNatsSettings } from '../shared/nats-session.js'
import { formatJsonLine, toPrintable } from '../shared/printable.js'
import { parseBytes } from '../shared/quantities.js'
import type { NamedSize } from '../../nats/config-check.js'
import type { StreamSizes } from '../../nats/streams.js'

const GIB = 2 ** 30
const DEFAULT_REPLICAS = 3
/** A batch can be as long as the servers' `max_payload`, 1 MiB by default. */
const MIN_MAX_BYTES = 2 ** 20
/** 3.3 hours of 1,000 entries/s at 540 bytes each. Together with the other streams it fits the 10 GiB volume of NATS's Helm chart. */
const DEFAULT_MAX_BYTES = 6 * GIB
/** About two million rejected entries. */
const DEFAULT_MAX_DEAD_BYTES = GIB
/** 7 days of 18 batches/s at 98 bytes each. */
const DEFAULT_MAX_STATE_BYTES = GIB

export const forwardInitCommand: Command = {
  summary:
    'Creates the stream, the dead-letter stream, the bucket and the consumers of a fleet in NATS JetStream, or reports how existing ones differ. It never changes or deletes anything.',
  examples: [
    ['npx pino-ingest forward init', 'on a cluster: creates the streams, or compares those that exist'],
    ['npx pino-ingest forward init --replicas 1 --max-bytes 1gb', 'on one server, with at most 1 GiB'],
  ],
  usage: ['pino-ingest forward init [FLAGS]'],
  flags: {
    replicas: { value: '1|3|5', meaning: `copies of each batch, each on another server (${DEFAULT_REPLICAS})` },
    'max-bytes': { value: 'SIZE', meaning: 'limit of queued batches, reserved immediately on each server (6gb)' },
    'max-dead-bytes': { value: 'SIZE', meaning: 'limit of rejected entries; the oldest are deleted (1gb)' },
    'max-state-bytes': {
      value: 'SIZE',
      meaning: 'limit of the ids of delivered batches; the oldest are deleted (1gb)',
    },
  },
  notes: [
    NATS_NOTE,
    'Replicas and sizes of existing streams are compared only with flags that are given.',
    'With --json, it prints one object: ok, items. An item has kind, name, status (created, ok, differs, failed), differences, and if it failed a problem and a fix.',
    'Exit codes: 0 everything is set up, 1 an item differs or failed, 2 invalid flags or configuration.',
  ],
  jsonFailuresTo: 'stdout',
  run,
}

async function run(given: Arguments): Promise<number> {
  const { sizes, named } = parseSizes(given)
  const session = await openNatsSession('forward init', resolveNatsSettings())
  let items: readonly FleetItem[]
  try {
    const old = findOldServer(session.connection.info)
    if (old?.isRefused === true) throw new CommandError('VERSION', old.text, EXIT_FAILED)
    if (old !== undefined) process.stderr.write(`pino-ingest: ${toPrintable(old.text)}\n`)
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
  if (maxBytes < MIN_MAX_BYTES)
    throw createUsageError('--max-bytes must be at least 1mb, the maximum length of a batch')
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
    : 'Existing streams and consumers were not changed. Fix the problems above, then run the command again.'
  return [...lines, end].map((line) => `${toPrintable(line)}\n`).join('')
}
