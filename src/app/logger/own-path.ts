/** [main] Finds this package's file, and pino, from here: pino would search from the file that calls it. */
// Not a named import: webpack replaces a named `createRequire` with an unknown argument by `undefined`.
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import type { pino } from 'pino'

let path: string | undefined

/** @returns undefined in a bundle without the package, where pino reports that it does not find it */
export function findOwnPath(): string | undefined {
  return (path ??= resolvePath())
}

function resolvePath(): string | undefined {
  // From the package itself, which knows its own name; from a bundle that contains this file, or where the application starts.
  for (const from of [
    () => new URL('../../from-here.js', import.meta.url),
    () => import.meta.url,
    () => join(process.cwd(), 'from-here.js'),
  ]) {
    try {
      return nodeModule.createRequire(from()).resolve('pino-ingest')
    } catch {
      // Not installed there, or this file is CommonJS in a bundle that is an ES module, where it has no path.
    }
  }
  return undefined
}

/** @throws the system's error if it is not found */
export function requirePino(): typeof pino {
  return (nodeModule.createRequire(import.meta.url)('pino') as { pino: typeof pino }).pino
}
