/** [worker, main] The module that `beforeSend` names: found, loaded, its function taken out of it. */
// Not by name: webpack takes that name for its own, and leaves `undefined` of a call whose argument it does not know.
import * as nodeModule from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { IngestError } from '../shared/errors.js'
import type { LogEntry } from '../protocol/log-entry.js'
import { formatThrown } from './format-thrown.js'

/** What `beforeSend` is written as: gets an entry and returns it, changed or not, or another one; `null` drops it. */
export type BeforeSend = (entry: LogEntry) => LogEntry | null

/** The same before anybody has looked at what it returns. */
export type HookFunction = (entry: LogEntry) => unknown

/** `default` of an ES module, of what TypeScript and Babel make of one, and of the one imported as the other. */
const MAX_DEFAULTS = 2

/** Codes of modules that only an `import()` can load: they await at their top level, or this Node requires no ES modules. */
const NEEDS_IMPORT: ReadonlySet<unknown> = new Set(['ERR_REQUIRE_ASYNC_MODULE', 'ERR_REQUIRE_ESM'])

const ONLY_IMPORTABLE =
  'it is an ES module that cannot be loaded at once here; take out its top-level await, or write it as CommonJS (.cjs)'

/**
 * Takes ES modules and CommonJS. The file's ending may be left out, as `require` allows it.
 *
 * @param path to the module, absolute or from `cwd`, or a `file:` URL
 * @throws IngestError `CONFIG`: not found, fails as it is loaded, or exports no function by default
 */
export async function loadHook(path: string, cwd = process.cwd()): Promise<HookFunction> {
  const { file, require } = findModule(path, cwd)
  let loaded: unknown
  try {
    loaded = require(file)
  } catch (error) {
    if (!NEEDS_IMPORT.has(codeOf(error))) throw failed(path, formatThrown(error))
    loaded = await importNatively(file).catch((reason: unknown) => {
      throw failed(path, isNoImport(reason) ? ONLY_IMPORTABLE : formatThrown(reason))
    })
  }
  return functionOf(loaded, path)
}

/**
 * As `loadHook`, for those who cannot wait.
 *
 * @throws IngestError `CONFIG`, also for a module that awaits at its top level
 */
export function loadHookSync(path: string, cwd = process.cwd()): HookFunction {
  const { file, require } = findModule(path, cwd)
  let loaded: unknown
  try {
    loaded = require(file)
  } catch (error) {
    if (!NEEDS_IMPORT.has(codeOf(error))) throw failed(path, formatThrown(error))
    throw failed(path, ONLY_IMPORTABLE)
  }
  return functionOf(loaded, path)
}

function findModule(path: string, cwd: string): { file: string; require: NodeJS.Require } {
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

/**
 * Not `import(file)`: the compiler makes a `require` of it in the CommonJS build, and here stands what cannot be required.
 */
async function importNatively(file: string): Promise<unknown> {
  const load = new Function('url', 'return import(url)') as (url: string) => Promise<unknown>
  return load(pathToFileURL(file).href)
}

/** Where Node makes no code from text (--disallow-code-generation-from-strings), or a test runner loads modules its own way. */
function isNoImport(error: unknown): boolean {
  return error instanceof EvalError || String(codeOf(error)).startsWith('ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING')
}

function functionOf(loaded: unknown, path: string): HookFunction {
  let found = loaded
  for (let depth = 0; depth < MAX_DEFAULTS && typeof found === 'object' && found !== null; depth += 1) {
    found = (found as { default?: unknown }).default
  }
  if (typeof found === 'function') return found as HookFunction
  throw failed(
    path,
    'its default export is no function; write `export default (entry) => entry`, or `module.exports = …` in CommonJS',
  )
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

function failed(path: string, reason: string): IngestError {
  return new IngestError('CONFIG', `beforeSend: cannot use the module ${JSON.stringify(path)}: ${reason}`)
}
