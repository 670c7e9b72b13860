/** `pino-ingest forward dead …`: entries that the service rejected. Loads only the subcommand that runs. */
import type { Command } from '../shared/command.js'
import { loadSubcommand } from '../shared/subcommands.js'
import type { SubcommandGroup } from '../shared/subcommands.js'

const GROUP: SubcommandGroup = {
  name: 'forward dead',
  summary: 'Lists, shows and replays entries of a fleet that the service rejected.',
  examples: [
    ['npx pino-ingest forward dead ls', 'counts them by endpoint and reason'],
    ['npx pino-ingest forward dead replay --all', 'publishes them again, after their cause was fixed'],
  ],
  argument: 'BATCH_ID',
  commands: {
    ls: {
      summary: 'counts them by endpoint and reason',
      load: async () => (await import('./forward-dead-ls.js')).deadLsCommand,
    },
    show: {
      summary: 'shows them with the reason',
      load: async () => (await import('./forward-dead-show.js')).deadShowCommand,
    },
    replay: {
      summary: 'publishes them to the queue again',
      load: async () => (await import('./forward-dead-replay.js')).deadReplayCommand,
    },
  },
}

/** Rejects with CommandError for an unknown name. */
export function loadForwardDeadCommand(name: string | undefined): Promise<Command> {
  return loadSubcommand(GROUP, name)
}
