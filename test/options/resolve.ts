/** Resolves options with an environment and files of the test. */
import { IngestError } from '../../src/shared/errors.js'
import { resolveOptions } from '../../src/options/resolve-options.js'
import type { Settings } from '../../src/options/resolve-options.js'

export type Env = Readonly<Record<string, string | undefined>>

export function resolve(given?: unknown, env: Env = {}, files: Readonly<Record<string, string>> = {}): Settings {
  return resolveOptions(given, {
    env,
    readFile: (path) => {
      const text = files[path]
      if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
      return text
    },
  })
}

/** The message of the error; throws if the options are valid. */
export function problem(given?: unknown, env: Env = {}, files: Readonly<Record<string, string>> = {}): string {
  try {
    resolve(given, env, files)
  } catch (error) {
    if (error instanceof IngestError && error.code === 'CONFIG' && error.cause === undefined) return error.message
    throw error
  }
  throw new Error('it was accepted')
}
