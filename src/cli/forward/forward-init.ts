/** `pino-ingest forward init`: creates a fleet's streams, bucket and consumers, or compares existing ones, which it never changes. */
import { findOldServer } from '../../nats/connect.js'
import { findOrCreatePart, findSetupFix, listFleet } from '../../nats/fleet-setup.js'
import type { FleetPart } from '../../nats/fleet-setup.js'
import type { StreamSizes } from '../../nats/streams.js'
import { fail, formatChecks, pass } from '../shared/check.js'
import type { Check } from '../shared/check.js'
import { CommandError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { NATS_NOTE, openNatsSession } from '../shared/nats-session.js'
import { formatJsonLine, toPrintable } from '../shared/terminal.js'
import { parseBytes, parseInteger } from '../shared/quantities.js'

export const forwardInitCommand: Command = {
  examples: [
    ['npx pino-ingest forward init', 'on a cluster: creates the streams, or compares those that exist'],
    ['npx pino-ingest forward init --replicas 1 --max-bytes 1gb', 'on one server, with at most 1 GiB'],
  ],
  flags: {
    replicas: { value: 'COUNT', meaning: 'copies of each batch, each on another server: 1, 3 or 5 (3)' },
    'max-bytes': { value: 'SIZE', meaning: 'limit of queued batches, reserved immediately on each server (6gb)' },
    'max-dead-bytes': { value: 'SIZE', meaning: 'limit of rejected entries; the oldest are deleted (1gb)' },
    'max-state-bytes': { value: 'SIZE', meaning: 'limit of delivered ids; the oldest are deleted (1gb)' },
  },
  notes: [
    NATS_NOTE,
    'Replicas and sizes of existing streams are compared only with flags that are given.',
    'With --json, it prints a list of checks as doctor does: {"name", "ok", "detail", "fix"?}. It ends at the first part that cannot be created or read.',
    'Exit codes: 0 everything is set up, 1 a part differs or failed, 2 invalid flags or configuration.',
  ],
  run,
}

async function run(given: Arguments): Promise<number> {
  const sizes = parseSizes(given)
  const { connection, manager, names, describe, close } = await openNatsSession('forward init')
  const checks: Check[] = []
  try {
    const old = findOldServer(connection.info)
    if (old?.isRefused === true) throw new CommandError('VERSION', old.text, EXIT_FAILED)
    if (old !== undefined) process.stderr.write(`pino-ingest: ${toPrintable(old.text)}\n`)
    for (const part of listFleet(manager, names, sizes)) {
      try {
        checks.push(...(await setUp(part)))
      } catch (error) {
        checks.push(fail(part.kind, `${part.name}: ${describe(error)}`, findSetupFix(error)))
        break
      }
    }
  } finally {
    await close()
  }
  process.stdout.write(given.switches.has('json') ? formatJsonLine(checks) : formatChecks(checks))
  return checks.every(({ ok }) => ok) ? EXIT_DONE : EXIT_FAILED
}

async function setUp(part: FleetPart): Promise<Check[]> {
  const { kind, name, compare } = part
  const info = await findOrCreatePart(part)
  if (info === undefined) return [pass(kind, `${name}: created`)]
  const problems = compare(info)
  if (problems.length === 0) return [pass(kind, `${name}: exists`)]
  return problems.map(({ problem, fix }) => fail(kind, `${name}: ${problem}`, fix))
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
