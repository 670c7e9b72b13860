/** [main] Whether pino will find this package by its name. In a bundle it may not, and pino's own message names no remedy. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { IngestError } from '../../shared/errors.js'

/** This file where it is a file of its own: then the package is installed, and pino finds it as the application did. */
const UNBUNDLED_FILE = /[\\/]app[\\/]target-check\.[cm]?[jt]s(?:\?.*)?$/

interface CallSite {
  getFileName(): string | null | undefined
}

/**
 * Refuses only what cannot work: this code stands in a bundle, nobody has told pino of a file for the name, and the package
 * is installed neither beside the files that are running, pino's callers among them, nor where the program was started.
 *
 * @param callers `caller` of pino's transport options: where it looks instead
 * @throws IngestError `CONFIG`
 * @see https://getpino.io/#/docs/bundling
 */
export function assertTargetIsFound(name: string, callers: unknown): void {
  const [own, ...running] = readStackFiles()
  if (own === undefined || UNBUNDLED_FILE.test(own) || !existsSync(toPath(own)) || isOverridden(name)) return
  const places = [callers, running, process.argv[1], join(process.cwd(), 'from-here.js')]
    .flat()
    .filter((one): one is string => typeof one === 'string')
  // Not imported: bundlers replace what they understand of `createRequire`. Where there is none, pino says what it finds.
  const createRequire = process.getBuiltinModule?.('node:module')?.createRequire
  if (createRequire === undefined || places.some((place) => canResolveFrom(place, name, createRequire))) return
  throw new IngestError(
    'CONFIG',
    `transport: "${name}" cannot be found from ${toPath(own)}, into which it was bundled: pino loads a transport from a file of its own. ` +
      'Write pino(ingestOptions({ transport: false }), ingestStream(options)), which needs no such file; or keep pino and pino-ingest out of the bundle ' +
      '("external") and install them beside it.',
  )
}

/** As the files are: `util.getCallSites` may name those of a source map. Empty where a runtime gives no such stack. */
function readStackFiles(): readonly string[] {
  const { prepareStackTrace } = Error
  try {
    Error.prepareStackTrace = (_error, sites) => sites
    const sites: unknown = new Error('only for its stack').stack
    if (!Array.isArray(sites)) return []
    return (sites as CallSite[]).map((site) => site.getFileName() ?? '')
  } catch {
    return []
  } finally {
    restorePrepareStackTrace(prepareStackTrace)
  }
}

function restorePrepareStackTrace(former: typeof Error.prepareStackTrace | undefined): void {
  try {
    Object.assign(Error, { prepareStackTrace: former })
  } catch {
    /* frozen: then it was not changed either */
  }
}

function isOverridden(name: string): boolean {
  const files = (globalThis as { __bundlerPathsOverrides?: unknown }).__bundlerPathsOverrides
  return typeof files === 'object' && files !== null && Boolean((files as Record<string, unknown>)[name])
}

function canResolveFrom(place: string, name: string, createRequire: (from: string) => NodeJS.Require): boolean {
  try {
    createRequire(place).resolve(name)
    return true
  } catch {
    return false
  }
}

function toPath(file: string): string {
  return file.startsWith('file:') ? fileURLToPath(file) : file
}
