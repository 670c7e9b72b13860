/** `pino-ingest forward init`: creates a fleet's streams, bucket and consumers, or compares existing ones, which it never changes. */
import type { Problem } from '../../nats/config-check.js'
import { findOrCreatePart, findSetupFix, listFleet } from '../../nats/fleet-setup.js'
import type { FleetPart } from '../../nats/fleet-setup.js'
import { findOldServer } from '../../nats/server-version.js'
import type { StreamSizes } from '../../nats/streams.js'
import { CommandError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { NATS_NOTE, openNatsSession, resolveNatsSettings } from '../shared/nats-session.js'
import { formatJsonLine, toPrintable } from '../shared/printable.js'
import { parseBytes, parseInteger } from '../shared/quantities.js'

export const forwardInitCommand: Command = {
  summary:
    'Creates the stream, the dead-letter stream, the bucket and the consumers of a fleet in NATS JetStream, or reports how existing ones differ. It never changes or deletes anything.',
  examples: [
    ['npx pino-ingest forward init', 'on a cluster: creates the streams, or compares those that exist'],
    ['npx pino-ingest forward init --replicas 1 --max-bytes 1gb', 'on one server, with at most 1 GiB'],
  ],
  usage: ['pino-ingest forward init [FLAGS]'],
  flags: {
    replicas: { value: 'COUNT', meaning: 'copies of each batch, each on another server: 1, 3 or 5 (3)' },
    'max-bytes': { value: 'SIZE', meaning: 'limit of queued batches, reserved immediately on each server (6gb)' },
    'max-dead-bytes': { value: 'SIZE', meaning: 'limit of rejected entries; the oldest are deleted (1gb)' },
    'max-state-bytes': { value: 'SIZE', meaning: 'limit of delivered ids; the oldest are deleted (1gb)' },
  },
  notes: [
    NATS_NOTE,
    'Replicas and sizes of existing streams are compared only with flags that are given.',
    'With --json, it prints one object: ok, items. An item has kind, name, status (created, ok, differs, failed) and problems, each with a problem and a fix. It ends at the first item that failed.',
    'Exit codes: 0 everything is set up, 1 an item differs or failed, 2 invalid flags or configuration.',
  ],
  jsonFailuresTo: 'stdout',
  run,
}

interface Item {
  readonly kind: string
  readonly name: string
  readonly status: 'created' | 'ok' | 'differs' | 'failed'
  readonly problems: readonly Problem[]
}

async function run(given: Arguments): Promise<number> {
  const sizes = parseSizes(given)
  const session = await openNatsSession('forward init', resolveNatsSettings())
  const items: Item[] = []
  try {
    const old = findOldServer(session.connection.info)
    if (old?.isRefused === true) throw new CommandError('VERSION', old.text, EXIT_FAILED)
    if (old !== undefined) process.stderr.write(`pino-ingest: ${toPrintable(old.text)}\n`)
    for (const part of listFleet(session.manager, session.names, sizes)) {
      const item = await setUp(part, session.describe)
      items.push(item)
      if (item.status === 'failed') break
    }
  } finally {
    await session.close()
  }
  const isOk = items.every(({ status }) => status === 'created' || status === 'ok')
  process.stdout.write(given.switches.has('json') ? formatJsonLine({ ok: isOk, items }) : formatItems(items, isOk))
  return isOk ? EXIT_DONE : EXIT_FAILED
}

async function setUp(part: FleetPart, describe: (error: unknown) => string): Promise<Item> {
  const { kind, name, compare } = part
  try {
    const info = await findOrCreatePart(part)
    if (info === undefined) return { kind, name, status: 'created', problems: [] }
    const problems = compare(info)
    return { kind, name, status: problems.length === 0 ? 'ok' : 'differs', problems }
  } catch (error) {
    return { kind, name, status: 'failed', problems: [{ problem: describe(error), fix: findSetupFix(error) }] }
  }
}

function parseSizes({ texts }: Arguments): StreamSizes {
  const parse = (flag: string, toNumber: (flag: string, text: string) => number): number | undefined => {
    const text = texts.get(flag)
    return text === undefined ? undefined : toNumber(flag, text)
  }
  return {
    replicas: parse('replicas', (flag, text) => parseInteger(flag, text, 1, 5)),
    maxBytes: parse('max-bytes', parseBytes),
    maxDeadBytes: parse('max-dead-bytes', parseBytes),
    maxStateBytes: parse('max-state-bytes', parseBytes),
  }
}

function formatItems(items: readonly Item[], isOk: boolean): string {
  const width = Math.max(...items.map(({ kind }) => kind.length))
  const lines = items.flatMap(({ kind, name, status, problems }) => [
    `${status.padEnd('differs'.length)}  ${kind.padEnd(width)}  ${name}`,
    ...problems.flatMap(({ problem, fix }) => [`         ${problem}`, `         -> ${fix}`]),
  ])
  const end = isOk
    ? 'Everything is set up.'
    : 'Existing streams and consumers were not changed. Fix the problems above, then run the command again.'
  return [...lines, end].map((line) => `${toPrintable(line)}\n`).join('')
}
