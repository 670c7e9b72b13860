/** Stores the token of the local service per user: an open page and `tail` work after a restart. */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { TOKEN_VARIABLE } from '../../options/known-variables.js'
import { isToken } from '../../protocol/token-rule.js'
import { formatMode, openOwn, ownUid, readAtMost, replaceFile, writeAll } from '../../shared/safe-files.js'
import { ensureNamedRoot } from '../../shared/safe-folders.js'
import type { Environment } from './child-process.js'
import { CommandError, EXIT_FAILED, EXIT_USAGE } from './command.js'
import { findStatePath } from './state-path.js'
import { toMessage } from '../../shared/errors.js'

export interface DevTokenResult {
  readonly token: string
  /** Message for the user if the token has changed or cannot be stored. */
  readonly note?: string
}

export interface FoundToken {
  readonly token: string
  readonly from: string
}

const TOKEN_BYTES = 16
/** A longer file is not a token. */
const MAX_FILE_BYTES = 1024
const OTHERS = 0o077

/** Creates a token if there is no usable one. @throws CommandError if the variable contains an invalid token */
export function findOrCreateToken(env: Environment): DevTokenResult {
  const named = readVariable(env)
  if (named !== undefined) return { token: named }
  const file = findTokenFile(env)
  try {
    const found = readTokenFile(file)
    if (found?.token !== undefined) return { token: found.token }
    const token = createTokenFile(file, found !== undefined)
    if (found === undefined) return { token }
    return { token, note: `the token was replaced, since ${file} ${found.problem}; an open page needs the new address` }
  } catch (error) {
    return {
      token: createToken(),
      note: `the token cannot be stored in ${file} (${toMessage(error)}) and is valid for this run only; set ${TOKEN_VARIABLE} to keep one`,
    }
  }
}

/** Like `findOrCreateToken`, but creates no token. @throws CommandError if there is none */
export function requireToken(env: Environment): FoundToken {
  const named = readVariable(env)
  if (named !== undefined) return { token: named, from: TOKEN_VARIABLE }
  let from = 'the home directory'
  let problem = 'is not there'
  try {
    from = findTokenFile(env)
    const found = readTokenFile(from)
    if (found?.token !== undefined) return { token: found.token, from }
    problem = found?.problem ?? problem
  } catch (error) {
    problem = `cannot be read (${toMessage(error)})`
  }
  const advice = `npx pino-ingest dev creates it; if the local service uses another token, set ${TOKEN_VARIABLE} to it`
  throw new CommandError('TOKEN', `there is no token for the local service: ${from} ${problem}. ${advice}`, EXIT_FAILED)
}

export function findTokenFile(env: Environment): string {
  return findStatePath(env, 'dev-token')
}

/** @returns undefined if it is not set @throws CommandError */
function readVariable(env: Environment): string | undefined {
  const given = env[TOKEN_VARIABLE]
  if (given === undefined || given === '') return undefined
  if (isToken(given)) return given
  const problem = `must have 16 to 512 letters, digits, - or _ (not shown, ${given.length} characters)`
  throw new CommandError('CONFIG', `${TOKEN_VARIABLE} ${problem}`, EXIT_USAGE)
}

/**
 * @returns undefined if there is no file
 * @throws UnsafeError if it is not a regular file of this user; the system's errors
 */
function readTokenFile(file: string): { readonly token?: string; readonly problem?: string } | undefined {
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

/** @returns the token in the file, which may be from a faster process */
function createTokenFile(file: string, isReplaced: boolean): string {
  ensureNamedRoot(dirname(file))
  const temporary = `${file}.${randomBytes(8).toString('hex')}`
  closeSync(replaceFile(temporary, (fd) => writeAll(fd, Buffer.from(`${createToken()}\n`))))
  try {
    if (isReplaced || !tryLink(temporary, file)) renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
  const { token, problem } = readTokenFile(file) ?? { problem: 'it was deleted' }
  if (token === undefined) throw new Error(problem)
  return token
}

/** If several processes start at once, the first one wins; on a file system without hard links the last one. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST'
  }
}

function createToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}
