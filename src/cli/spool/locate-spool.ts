/** Finds the spool of the current configuration and lists its content. */
import { basename, join } from 'node:path'
import { createSecretMask } from '../../diagnostics/secret-mask.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import type { Settings } from '../../options/resolve-options.js'
import { PATHS } from '../../protocol/limits.js'
import { systemClock } from '../../shared/clock.js'
import { IngestError } from '../../shared/errors.js'
import { readDescription } from '../../spool/destination-file.js'
import { inspectRoot } from '../../spool/inspect.js'
import type { FoundDestination } from '../../spool/inspect.js'
import { readMachine } from '../../spool/instance/ownership.js'
import type { Machine } from '../../spool/instance/ownership.js'
import { addReplacedDestinations, findDefaultRoot, nameDestination } from '../../spool/spool-root.js'
import { CommandError, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Flags } from '../shared/command.js'
import type { ItemKind } from './item-kind.js'

export interface SpoolLocation {
  readonly root: string
  readonly machine: Machine
  readonly destinations: readonly FoundDestination[]
  /** The kind of what the destination with this name contains. */
  readonly kindOf: (name: string) => ItemKind
  /** Names of the destinations of the current key. */
  readonly present: readonly string[]
  /** Names of the destinations of `previousApiKeys`, and of keys that a running process replaced. */
  readonly previous: readonly string[]
  /** Removes the keys from text. */
  readonly mask: (text: string) => string
}

export const DIR_FLAG: Flags = {
  dir: { value: 'DIR', meaning: 'folder of the spool (PINO_INGEST_SPOOL_DIR, or <tmp>/pino-ingest-<uid>)' },
}

/** @throws CommandError if the folder does not exist or is unsafe to read. */
export function locateSpool({ texts }: Arguments): SpoolLocation {
  const { env } = process
  const settings = tryResolveSettings() // Undefined if the options are invalid. The spool can still be inspected.
  const ofOptions = settings?.spool ? settings.spool.dir : env['PINO_INGEST_SPOOL_DIR']
  const root = texts.get('dir') ?? (ofOptions || findDefaultRoot())
  const machine = readMachine()
  const destinations = inspectSpool(root, machine)
  const known = settings === undefined ? [] : listDestinations(settings).filter((_, at) => at % 2 === 1)
  const sent = settings === undefined ? [] : findSent(root, settings)
  const ofRequests = destinations.filter(({ path }) => readDescription(path)?.url.endsWith(PATHS.requests))
  const requestNames = new Set([...known, ...ofRequests.map(({ name }) => name)])
  // Read from the environment, since `settings` is undefined if another option is invalid.
  const namedKeys = [env['PINO_INGEST_API_KEY'], ...(env['PINO_INGEST_PREVIOUS_API_KEYS'] ?? '').split(',')]
  const secrets = namedKeys.map((key) => key?.trim() ?? '')
  if (settings !== undefined) secrets.push(...settings.secrets.map((key) => key.reveal()))
  settings?.apiKey.changed.on((key) => void secrets.push(key))
  return {
    root,
    machine,
    destinations,
    kindOf: (name) => (requestNames.has(name) ? 'requests' : 'entries'),
    present: sent.slice(0, 2),
    previous: sent.slice(2),
    mask: createSecretMask(secrets),
  }
}

/** For each key, the destination of entries and then that of request logs. The current key comes first. */
function listDestinations({ url, apiKey, previousApiKeys }: Settings): string[] {
  const urls = [url, url + PATHS.requests]
  return [apiKey, ...previousApiKeys].flatMap((key) => urls.map((to) => nameDestination(to, key.reveal())))
}

/**
 * Names of the destinations whose entries an application with these settings sends: two of the current key, then the
 * others.
 */
export function findSent(root: string, settings: Settings): string[] {
  const folders = listDestinations(settings).map((name) => join(root, name))
  addReplacedDestinations(root, folders)
  return folders.map((folder) => basename(folder))
}

function inspectSpool(root: string, machine: Machine): FoundDestination[] {
  try {
    return inspectRoot(root, { machine, wallNowMs: systemClock.wallNow() })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const problem =
      code === 'ENOENT'
        ? `the folder ${root} does not exist: nothing is stored, or the spool is elsewhere (--dir, PINO_INGEST_SPOOL_DIR)`
        : code === 'UNSAFE'
          ? `${message}; pass the folder itself, and run the command as the application's user`
          : `the folder cannot be read: ${message}`
    throw new CommandError('SPOOL', problem, EXIT_FAILED)
  }
}

function tryResolveSettings(): Settings | undefined {
  try {
    return resolveFromProcess({})
  } catch (error) {
    if (error instanceof IngestError) return undefined
    throw error
  }
}
