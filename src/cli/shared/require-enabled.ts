/** A check of commands that send batches to the service. */
import type { Settings } from '../../options/settings.js'
import { CommandError, EXIT_USAGE } from './command.js'

/** @throws CommandError `CONFIG` if the option `enabled` is false: the command would consume its input and send nothing */
export function requireEnabled({ enabled }: Pick<Settings, 'enabled'>): void {
  if (!enabled)
    throw new CommandError('CONFIG', 'nothing is sent while PINO_INGEST_ENABLED is false: unset it', EXIT_USAGE)
}
