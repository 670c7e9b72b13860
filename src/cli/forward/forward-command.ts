/** `pino-ingest forward …`: delivers from NATS JetStream to the service. Loads only the command that runs. */
import { createGroup } from '../shared/subcommands.js'
import type { CommandGroup } from '../shared/subcommands.js'

const DEAD = createGroup({
  name: 'forward dead',
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
})

export const forwardGroup: CommandGroup = {
  name: 'forward',
  commands: {
    init: {
      summary: 'creates the streams, the bucket and the consumers of a fleet, or reports how existing ones differ',
      load: async () => (await import('./forward-init.js')).forwardInitCommand,
    },
    dead: {
      summary: 'lists, shows and replays entries that the service rejected',
      load: () => Promise.resolve(DEAD),
    },
  },
  loadDefault: async () => (await import('./forward-run-command.js')).forwardRunCommand,
}
