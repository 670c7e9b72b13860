/** `pino-ingest forward …`: delivers from NATS JetStream to the log service. Loads only the command that runs. */
import { createGroup } from '../shared/subcommands.js'
import type { CommandGroup } from '../shared/subcommands.js'

const DEAD = createGroup({
  name: 'forward dead',
  examples: [
    ['npx pino-ingest forward dead ls', 'counts rejected entries by endpoint and reason'],
    ['npx pino-ingest forward dead replay --all', 'publishes rejected entries again, after the cause was fixed'],
  ],
  argument: 'BATCH_ID',
  commands: {
    ls: {
      summary: 'counts rejected entries by endpoint and reason',
      load: async () => (await import('./forward-dead.js')).deadLsCommand,
    },
    show: {
      summary: 'shows rejected entries with the reason',
      load: async () => (await import('./forward-dead.js')).deadShowCommand,
    },
    replay: {
      summary: 'publishes rejected entries to the queue again',
      load: async () => (await import('./forward-dead.js')).deadReplayCommand,
    },
  },
})

export const forwardGroup: CommandGroup = {
  name: 'forward',
  commands: {
    init: {
      summary: 'creates the streams, the bucket and the consumers of a fleet, or reports how existing ones differ',
      load: async () => (await import('./forward-init.js')).forwardInitCommand,
    },
    dead: {
      summary: 'lists, shows and replays entries that the log service rejected',
      load: () => Promise.resolve(DEAD),
    },
  },
  loadDefault: async () => (await import('./forward-run-command.js')).forwardRunCommand,
}
