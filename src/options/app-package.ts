/** Where the application was started: its main script with the package.json, and the folder of relative paths. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

export interface AppPackage {
  readonly name?: string
  readonly version?: string
}

const MAIN_SCRIPT = 'pino-ingest.main-script'
const START_FOLDER = 'pino-ingest.folder'
const IN_DEPENDENCY = /[\\/]node_modules[\\/]/

/**
 * Passes the main script and the current folder to workers that start later. In pino's worker `process.argv[1]` is a file
 * of pino, and the application may call `process.chdir()`.
 */
export function passStartToWorkers(folder = process.cwd()): void {
  if (!isMainThread) return
  setEnvironmentData(MAIN_SCRIPT, process.argv[1] ?? '')
  setEnvironmentData(START_FOLDER, folder)
}

/** The folder from which relative paths are resolved. */
export function findStartFolder(): string {
  const passed = isMainThread ? undefined : getEnvironmentData(START_FOLDER)
  return typeof passed === 'string' ? passed : process.cwd()
}

/**
 * Of the nearest package.json that has a name or a version. Without a script, as in the REPL, the search starts in the folder.
 * Empty if there is none. Never throws.
 */
export function readAppPackage(script: string | undefined = findMainScript()): AppPackage {
  for (let path = isText(script) ? findStart(script) : findStartFolder(); ; path = dirname(path)) {
    const { name, version } = readPackage(join(path, 'package.json'))
    // The command line in a clone of this package is not the application.
    if (name === 'pino-ingest') return {}
    if (name !== undefined || version !== undefined) return { ...(name && { name }), ...(version && { version }) }
    if (path === dirname(path)) return {}
  }
}

function findStart(script: string): string {
  // A link such as those of `npm install --global`.
  if (!IN_DEPENDENCY.test(script)) return existsSync(script) ? realpathSync(script) : resolve(script)
  // A tool such as `next`, which runs the application. In a monorepo it is in the node_modules of the root, and is started in a package.
  const [root = ''] = script.split(IN_DEPENDENCY, 1)
  const cwd = process.cwd()
  return cwd.startsWith(resolve(root) + sep) ? cwd : resolve(root)
}

function findMainScript(): string | undefined {
  const [, script] = process.argv
  if (isMainThread) return script
  const passed = getEnvironmentData(MAIN_SCRIPT)
  if (typeof passed === 'string') return passed
  // The application's own worker, or a bundle that contains pino's.
  if (script !== undefined && !IN_DEPENDENCY.test(script)) return script
  try {
    // Linux: the arguments of the process. Those of Node are the same in all threads.
    const started = readFileSync('/proc/self/cmdline', 'utf8').split('\0')[1 + process.execArgv.length] ?? ''
    // Not a file after `process.title = …`, or after a change of the folder.
    return [started, `${started}.js`].find(existsSync)
  } catch {
    return undefined
  }
}

function readPackage(path: string): AppPackage {
  if (!existsSync(path)) return {} // an error for each folder without one would take longer than everything else
  try {
    const { name, version } = JSON.parse(readFileSync(path, 'utf8')) as Record<keyof AppPackage, unknown>
    return { ...(isText(name) && { name }), ...(isText(version) && { version }) }
  } catch {
    return {} // npm would not accept it
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
