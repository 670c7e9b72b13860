/** Finds the token of this user's local service, which `pino-ingest dev` creates. */
import { closeSync, constants, fstatSync } from 'node:fs'
import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'
import { isToken } from '../protocol/token-rule.js'
import { formatMode, openOwn, ownUid, readAtMost } from '../shared/safe-files.js'
import type { Env } from './ci.js'

export const TOKEN_VARIABLE = 'PINO_INGEST_DEV_TOKEN'

/** A longer file is not a token. */
const MAX_FILE_BYTES = 1024
const OTHERS = 0o077

/** A token, or the reason why there is none. */
export interface FoundToken {
  readonly token?: string
  /** The variable's name, or the file's path. */
  readonly from: string
  readonly problem?: string
}

/** The variable wins over the file. Creates nothing and never throws. */
export function findToken(env: Env): FoundToken {
  const given = env[TOKEN_VARIABLE]
  if (given !== undefined && given !== '') {
    if (isToken(given)) return { token: given, from: TOKEN_VARIABLE }
    return {
      from: TOKEN_VARIABLE,
      problem: `must have 16 to 512 letters, digits, - or _ (not shown, ${given.length} characters)`,
    }
  }
  let from = 'the home directory'
  try {
    from = findTokenFile(env)
    return { from, ...(readTokenFile(from) ?? { problem: 'is not there' }) }
  } catch (error) {
    return { from, problem: `cannot be read (${error instanceof Error ? error.message : String(error)})` }
  }
}

export function findTokenFile(env: Env, platform = process.platform): string {
  return findStatePath(env, 'dev-token', platform)
}

/**
 * A path in this user's folder for state. @see XDG Base Directory Specification, which ignores relative paths
 * @throws the system's error if there is no home directory
 */
export function findStatePath(env: Env, name: string, platform = process.platform): string {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix
  const named = platform === 'win32' ? env['LOCALAPPDATA'] : env['XDG_STATE_HOME']
  const base = named !== undefined && isAbsolute(named) ? named : join(homedir(), '.local', 'state')
  return join(base, 'pino-ingest', name)
}

/**
 * @returns undefined if there is no file
 * @throws UnsafeError if it is not a regular file of this user; the system's errors
 */
export function readTokenFile(file: string): Pick<FoundToken, 'token' | 'problem'> | undefined {
  let fd: number
  try {
    fd = openOwn(file, constants.O_RDONLY)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const stats = fstatSync(fd)
    if (ownUid !== undefined && (stats.mode & OTHERS) !== 0)
      return { problem: `could be read by others (mode ${formatMode(stats)})` }
    const text = readAtMost(fd, MAX_FILE_BYTES)?.toString('utf8').trim()
    return text !== undefined && isToken(text) ? { token: text } : { problem: 'held no token' }
  } finally {
    closeSync(fd)
  }
}
