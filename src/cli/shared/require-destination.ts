/** Checks of commands that send batches. */
import type { Settings } from '../../options/settings.js'
import { CommandError, EXIT_USAGE } from './command.js'

/** @throws CommandError `CONFIG` if the option `enabled` is false: the command would consume its input and send nothing */
export function requireEnabled({ enabled }: Pick<Settings, 'enabled'>): void {
  if (!enabled)
    throw new CommandError('CONFIG', 'nothing is sent while PINO_INGEST_ENABLED is false: unset it', EXIT_USAGE)
}

/** Like `requireEnabled`, for commands that must not send to a local service by default. @throws CommandError `CONFIG` */
export function requireDestination(settings: Pick<Settings, 'enabled' | 'isLocalDefault'>): void {
  if (settings.isLocalDefault)
    throw new CommandError(
      'CONFIG',
      'set PINO_INGEST_URL to the service, and PINO_INGEST_API_KEY or PINO_INGEST_API_KEY_FILE to its key: there is no default',
      EXIT_USAGE,
    )
  requireEnabled(settings)
}
