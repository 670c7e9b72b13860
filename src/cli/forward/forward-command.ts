/** `pino-ingest forward …`: delivers from NATS JetStream to the service. Loads only the subcommand that runs. */
import { findNearestName } from '../../shared/nearest-name.js'
import { createUsageError } from '../shared/command.js'
import type { Command } from '../shared/command.js'

interface Subcommand {
  /** Whether it has subcommands of its own. */
  readonly isNested?: true
  readonly load: (subcommand?: string) => Promise<Command>
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  init: { load: async () => (await import('./forward-init.js')).forwardInitCommand },
  dead: {
    isNested: true,
    load: async (subcommand) => (await import('./forward-dead.js')).loadForwardDeadCommand(subcommand),
  },
}

const NAMES = Object.keys(SUBCOMMANDS)

/** Loads the forwarder itself if there is no name. Rejects with CommandError for an unknown name. */
export async function loadForwardCommand(name?: string, nested?: string): Promise<Command> {
  if (name === undefined) return (await import('./forward-run-command.js')).forwardRunCommand
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined
  if (subcommand === undefined) {
    const nearest = findNearestName(name, NAMES)
    throw createUsageError(
      `unknown command forward ${name}, ${nearest === undefined ? `known are ${NAMES.join(', ')}` : `did you mean ${nearest}?`}`,
    )
  }
  if (nested !== undefined && subcommand.isNested !== true) throw createUsageError(`unexpected argument ${nested}`)
  return subcommand.load(nested)
}
