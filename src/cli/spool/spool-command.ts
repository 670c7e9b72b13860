/** `pino-ingest spool …`: inspects, replays and deletes the content of the spool. */
import { createGroup } from '../shared/subcommands.js'
import { lsCommand } from './spool-ls.js'

export const spoolGroup = createGroup({
  name: 'spool',
  examples: [
    ['npx pino-ingest spool ls', 'what is stored, for which destination'],
    ['npx pino-ingest spool replay --all', 'sends what exited processes left'],
    ['npx pino-ingest spool show dead', 'rejected entries with their reasons'],
  ],
  argument: 'ID',
  commands: {
    ls: {
      summary: 'lists destinations, instances and dead letters',
      load: () => Promise.resolve(lsCommand),
    },
    show: {
      summary: 'shows entries, with the reason if they were rejected',
      load: async () => (await import('./spool-show.js')).showCommand,
    },
    replay: {
      summary: 'sends entries left by exited processes, and dead letters, with the current URL and key',
      load: async () => (await import('./spool-replay.js')).replayCommand,
    },
    purge: {
      summary: 'deletes entries left by exited processes, and dead letters',
      load: async () => (await import('./spool-purge.js')).purgeCommand,
    },
  },
})
