/** Flags for options of the transport, and checks of options and files. */
import { text } from 'node:stream/consumers'
import { findRow } from '../../options/option-table.js'
import type { OptionName } from '../../options/option-table.js'
import type { Settings } from '../../options/settings.js'
import { describeReadError, readRegularFile } from '../../shared/safe-files.js'
import { CommandError, createUsageError, EXIT_USAGE } from './command.js'
import type { Arguments, Flags } from './command.js'

/** Flags by option, in kebab case. No flag for the API key, since process lists show arguments. */
export const OPTION_FLAGS = {
  url: { value: 'URL', meaning: 'base URL of the log service, ends with /api/v1' },
  service: { value: 'NAME', meaning: 'name of your application (service name)' },
  environment: { value: 'NAME', meaning: 'environment of the application' },
  'send-level': { value: 'LEVEL', meaning: 'lowest level that is sent (info)' },
  pino: { value: 'JSON', meaning: 'pino\'s options that change names, such as {"messageKey":"message"}' },
} as const satisfies Flags

export const KEY_NOTE = `PINO_INGEST_API_KEY sets the key, or PINO_INGEST_API_KEY_FILE a file that contains it. There is no flag for it,
since process lists show arguments. Options can also be set with environment variables; the flag takes precedence.`

/** @returns the given options by name, not validated */
export function parseOptionFlags({ texts }: Arguments): Record<string, unknown> {
  const given: Record<string, unknown> = {}
  for (const flag of Object.keys(OPTION_FLAGS)) {
    const value = texts.get(flag)
    const name = flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    if (value !== undefined) given[name] = findRow(name as OptionName).kind.parse(value)
  }
  return given
}

/** @throws CommandError `CONFIG` if the option `enabled` is false: the command would consume its input and send nothing */
export function requireEnabled({ enabled }: Pick<Settings, 'enabled'>): void {
  if (!enabled)
    throw new CommandError('CONFIG', 'nothing is sent while PINO_INGEST_ENABLED is false: unset it', EXIT_USAGE)
}

/** @param path `-` for all of stdin. Rejects with CommandError if the file cannot be read */
export async function readTextFile(path: string, flag: string): Promise<string> {
  try {
    return (path === '-' ? await text(process.stdin) : readRegularFile(path)).trimEnd()
  } catch (error) {
    throw createUsageError(`cannot read the file in --${flag}: ${path} (${describeReadError(error)})`)
  }
}
