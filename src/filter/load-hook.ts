/** [worker, main] Loads the module of `beforeSend` and returns its function. */
// Not a named import: webpack replaces a named `createRequire` with an unknown argument by `undefined`.
import * as nodeModule from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import { findStartFolder } from '../options/app-package.js'
import type { BeforeSend } from '../options/kinds.js'
import type { Secret } from '../options/secret.js'
import { systemClock } from '../shared/clock.js'
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import type { LogEntry } from '../protocol/log-entry.js'
import { formatThrown } from './format-thrown.js'

/** `BeforeSend` before validation of its results. */
export type HookFunction = (entry: LogEntry) => unknown

/** `default` may be nested: an ES module that imports the output of TypeScript or Babel has two. */
const MAX_DEFAULTS = 2

/** Error codes of modules that only `import()` can load: with a top-level await, or if this Node version cannot require ES modules. */
const NEEDS_IMPORT: ReadonlySet<unknown> = new Set(['ERR_REQUIRE_ASYNC_MODULE', 'ERR_REQUIRE_ESM'])

/** Without a limit, a top-level await that never settles would keep the worker from accepting lines. */
const IMPORT_TIMEOUT_MS = 10_000

const ONLY_IMPORTABLE =
  'this ES module cannot be loaded synchronously; remove its top-level await, or write it as CommonJS (.cjs)'

/**
 * Loads ES modules and CommonJS. The file extension may be omitted, as for `require`.
 *
 * @param path absolute, relative to `cwd`, or a `file:` URL
 * @param secrets masked in the error, since a module may throw one with its environment
 * @param clock limits the time that a top-level await may take
 * @throws IngestError `CONFIG` if it is not found, fails while loading, or has no function as default export
 */
export async function loadHook(
  path: string | BeforeSend,
  secrets: readonly Secret[],
  cwd = findStartFolder(),
  clock: Pick<Clock, 'timer'> = systemClock,
): Promise<HookFunction> {
  checkCanCross(path)
  try {
    const found = findModule(path, cwd)
    const required = tryRequire(found, path)
    return toHook(required === undefined ? await importWithin(found.file, path, clock) : required.module, path)
  } catch (error) {
    throw masked(error, path, secrets)
  }
}

/** @throws IngestError `CONFIG` for a function, which pino cannot pass to its worker */
export function checkCanCross(beforeSend: string | BeforeSend | undefined): asserts beforeSend is string | undefined {
  if (typeof beforeSend === 'function')
    throw new IngestError(
      'CONFIG',
      "beforeSend is a function, which cannot be passed to pino's worker: write it as the default export of a module and pass its path, such as beforeSend: './before-send.mjs', or use ingestStream()",
    )
}

/** Without loading it. @throws IngestError `CONFIG` if the module is not found */
export function checkHookExists(path: string, secrets: readonly Secret[], cwd = findStartFolder()): void {
  try {
    findModule(path, cwd)
  } catch (error) {
    throw masked(error, path, secrets)
  }
}

/**
 * As `loadHook`, but synchronous. A function is returned unchanged.
 *
 * @throws IngestError `CONFIG`, also for a module with a top-level await
 */
export function loadHookSync(
  path: string | BeforeSend,
  secrets: readonly Secret[],
  cwd = findStartFolder(),
): HookFunction {
  if (typeof path === 'function') return path
  try {
    const required = tryRequire(findModule(path, cwd), path)
    if (required === undefined) throw failed(path, ONLY_IMPORTABLE)
    return toHook(required.module, path)
  } catch (error) {
    throw masked(error, path, secrets)
  }
}

interface FoundModule {
  readonly file: string
  readonly require: NodeJS.Require
}

/** @returns undefined if only `import()` can load the module */
function tryRequire({ file, require }: FoundModule, path: string): { readonly module: unknown } | undefined {
  try {
    return { module: require(file) as unknown }
  } catch (error) {
    if (NEEDS_IMPORT.has(codeOf(error))) return undefined
    throw failed(path, formatThrown(error))
  }
}

function findModule(path: string, cwd: string): FoundModule {
  const require = nodeModule.createRequire(join(resolve(cwd), 'from-here.js'))
  try {
    const file = /^file:/i.test(path) ? fileURLToPath(path) : resolve(cwd, path)
    return { file: require.resolve(file), require }
  } catch (error) {
    if (codeOf(error) !== 'MODULE_NOT_FOUND') throw failed(path, formatThrown(error))
    throw new IngestError(
      'CONFIG',
      `beforeSend: module ${JSON.stringify(path)} was not found (resolved from ${resolve(cwd)})`,
    )
  }
}

async function importWithin(file: string, path: string, clock: Pick<Clock, 'timer'>): Promise<unknown> {
  let cancelTimer = (): void => {}
  const late = new Promise<never>((_, reject) => {
    cancelTimer = clock.timer(IMPORT_TIMEOUT_MS, () =>
      reject(
        failed(path, `its top-level await did not end within ${IMPORT_TIMEOUT_MS / 1000} s; shorten or remove it`),
      ),
    )
  })
  const imported = importNatively(file).catch((reason: unknown) => {
    throw failed(path, isImportUnsupported(reason) ? ONLY_IMPORTABLE : formatThrown(reason))
  })
  return Promise.race([imported, late]).finally(cancelTimer)
}

/**
 * Not `import(file)`: in the CommonJS build the compiler replaces it with `require`, which cannot load these modules.
 */
async function importNatively(file: string): Promise<unknown> {
  const load = new Function('url', 'return import(url)') as (url: string) => Promise<unknown>
  return load(pathToFileURL(file).href)
}

/** True if Node was started with --disallow-code-generation-from-strings, or if a test runner loads modules. */
function isImportUnsupported(error: unknown): boolean {
  return error instanceof EvalError || String(codeOf(error)).startsWith('ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING')
}

function toHook(loaded: unknown, path: string): HookFunction {
  let found = loaded
  for (let depth = 0; depth < MAX_DEFAULTS && typeof found === 'object' && found !== null; depth += 1) {
    found = (found as { default?: unknown }).default
  }
  if (typeof found === 'function') return found as HookFunction
  throw failed(
    path,
    'its default export is not a function; write `export default (entry) => entry`, or `module.exports = …` in CommonJS',
  )
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

function failed(path: string, reason: string): IngestError {
  return new IngestError('CONFIG', `beforeSend: cannot use the module ${JSON.stringify(path)}: ${reason}`)
}

function masked(error: unknown, path: string, secrets: readonly Secret[]): IngestError {
  const { message } = error instanceof IngestError ? error : failed(path, formatThrown(error))
  const mask = createSecretMask(secrets.map((secret) => secret.reveal()))
  return new IngestError('CONFIG', mask(message))
}
