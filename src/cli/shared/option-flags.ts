/** Flags for options of the transport, and checks of options and files. */
import { text } from 'node:stream/consumers'
import { findRow } from '../../options/option-table.js'
import type { OptionName } from '../../options/option-table.js'
import type { Settings } from '../../options/settings.js'
import { describeReadError, readRegularFile } from '../../shared/safe-files.js'
import { CommandError, createUsageError, EXIT_USAGE } from './command.js'
import type { Arguments, Flags } from './command.js'

const PINO_MEMBERS = findRow('pino').kind.members ?? {}

/** Flags by option or member of `pino`, in kebab case. No flag for the API key, since process lists show arguments. */
export const OPTION_FLAGS = {
  url: { value: 'URL', meaning: 'base URL of the service, ends with /api/v1' },
  service: { value: 'NAME', meaning: 'name of the service that logs' },
  environment: { value: 'NAME', meaning: 'environment of the application' },
  level: { value: 'LEVEL', meaning: 'lowest level that is sent (info)' },
  'message-key': { value: 'KEY', meaning: "pino's messageKey, if it is not msg" },
  'error-key': { value: 'KEY', meaning: "pino's errorKey, if it is not err" },
  'nested-key': { value: 'KEY', meaning: "pino's nestedKey, if one is set" },
  'level-key': { value: 'KEY', meaning: "key under which pino's formatters.level writes the level" },
  'custom-levels': { value: 'LIST', meaning: "pino's customLevels, such as audit:35,notice:25" },
} as const satisfies Flags

export const KEY_NOTE = `PINO_INGEST_API_KEY sets the key, or PINO_INGEST_API_KEY_FILE a file that contains it. There is no flag for it,
since process lists show arguments. Every option also has an environment variable; the flag takes precedence.`

/** @returns the given options by name, not validated */
export function parseOptionFlags({ texts }: Arguments): Record<string, unknown> {
  const given: Record<string, unknown> = {}
  const pino: Record<string, unknown> = {}
  for (const flag of Object.keys(OPTION_FLAGS)) {
    const value = texts.get(flag)
    if (value === undefined) continue
    const name = flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    const member = PINO_MEMBERS[name]
    if (member === undefined) given[name] = findRow(name as OptionName).kind.parse(value)
    else pino[name] = member.kind.parse(value)
  }
  return Object.keys(pino).length === 0 ? given : { ...given, pino }
}

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

/** @param path `-` for all of stdin. Rejects with CommandError if the file cannot be read */
export async function readTextFile(path: string, flag: string): Promise<string> {
  try {
    return (path === '-' ? await text(process.stdin) : readRegularFile(path)).trimEnd()
  } catch (error) {
    throw createUsageError(`cannot read the file in --${flag}: ${path} (${describeReadError(error)})`)
  }
}
