/** Where the spool lies, whose present configuration it is looked at with, and what must not be shown of it. */
import { systemClock } from '../../shared/clock.js'
import { IngestError } from '../../shared/errors.js'
import { createSecretMask } from '../../diagnostics/secret-mask.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import type { Settings } from '../../options/resolve-options.js'
import { PATHS } from '../../protocol/limits.js'
import { inspectRoot } from '../../spool/inspect.js'
import type { FoundDestination } from '../../spool/inspect.js'
import { readMachine } from '../../spool/instance/ownership.js'
import type { Machine } from '../../spool/instance/ownership.js'
import { defaultRoot, destinationName } from '../../spool/spool-root.js'
import { CommandError, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Flags } from '../shared/command.js'
import type { ItemKind } from './item-kind.js'

export interface SpoolLocation {
  readonly root: string
  readonly machine: Machine
  readonly destinations: readonly FoundDestination[]
  /** Undefined where the options do not resolve: one may look all the same. */
  readonly settings: Settings | undefined
  /** Names of the destinations that the present configuration writes for: entries, request logs. */
  readonly present: readonly string[]
  /** Names of those of `previousApiKeys`. */
  readonly previous: readonly string[]
  /** What lies in each of these, by its name. */
  readonly kinds: ReadonlyMap<string, ItemKind>
  /** Takes the keys out of what is shown. */
  readonly mask: (text: string) => string
}

export const DIR_FLAG: Flags = {
  dir: {
    value: 'DIR',
    meaning: 'folder of the spool, where it is neither PINO_INGEST_SPOOL_DIR nor the default, <tmp>/pino-ingest-<uid>',
  },
}

/** @throws CommandError where there is no folder, or none that is safe to read */
export function locateSpool({ texts }: Arguments): SpoolLocation {
  const { env } = process
  const root = texts.get('dir') ?? nonEmpty(env['PINO_INGEST_SPOOL_DIR']) ?? defaultRoot()
  const machine = readMachine()
  const settings = trySettings()
  const pairs = settings === undefined ? [] : listDestinations(settings)
  const [present = [], ...previous] = pairs.map(({ entries, requests }) => [entries, requests])
  // Also where the settings do not resolve.
  const named = [env['PINO_INGEST_API_KEY'], ...(env['PINO_INGEST_PREVIOUS_API_KEYS'] ?? '').split(',')].map(
    (key) => key?.trim() ?? '',
  )
  return {
    root,
    machine,
    settings,
    present,
    previous: previous.flat(),
    kinds: new Map(
      pairs.flatMap(
        ({ entries, requests }) =>
          [
            [entries, 'entries'],
            [requests, 'requests'],
          ] as const,
      ),
    ),
    destinations: inspectSpool(root, machine),
    mask: createSecretMask([...named, ...(settings?.givenKeys.map((key) => key.reveal()) ?? [])]),
  }
}

/** The folders that these settings send from: the present key's first, then those of `previousApiKeys`. */
export function listDestinations({
  url,
  apiKey,
  previousApiKeys,
}: Settings): { readonly entries: string; readonly requests: string }[] {
  return [apiKey, ...previousApiKeys]
    .map((key) => key.reveal())
    .map((key) => ({ entries: destinationName(url, key), requests: destinationName(url + PATHS.requests, key) }))
}

function inspectSpool(root: string, machine: Machine): FoundDestination[] {
  try {
    return inspectRoot(root, { machine, wallNowMs: systemClock.wallNow() })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT')
      throw new CommandError(
        'SPOOL',
        `there is no folder ${root}: nothing is kept, or it lies elsewhere (--dir, PINO_INGEST_SPOOL_DIR)`,
        EXIT_FAILED,
      )
    if (code === 'UNSAFE')
      throw new CommandError(
        'SPOOL',
        `${message}; name the folder itself, as the user that the application runs as`,
        EXIT_FAILED,
      )
    throw new CommandError('SPOOL', `the folder cannot be read: ${message}`, EXIT_FAILED)
  }
}

function trySettings(): Settings | undefined {
  try {
    return resolveFromProcess({})
  } catch (error) {
    if (error instanceof IngestError) return undefined
    throw error
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
