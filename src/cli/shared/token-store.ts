/** Stores the token of the local service per user: an open page and `tail` work after a restart. */
import { randomBytes } from 'node:crypto'
import { closeSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { findToken, findTokenFile, readTokenFile, TOKEN_VARIABLE } from '../../options/dev-token.js'
import { replaceFile, writeAll } from '../../shared/safe-files.js'
import { ensureNamedRoot } from '../../shared/safe-folders.js'
import { CommandError, EXIT_FAILED, EXIT_USAGE } from './command.js'

type Env = Readonly<Record<string, string | undefined>>

export interface DevTokenResult {
  readonly token: string
  /** Message for the user if the token has changed or cannot be stored. */
  readonly note?: string
}

const TOKEN_BYTES = 16

/** Creates a token if there is no usable one. @throws CommandError if the variable contains an invalid token */
export function findOrCreateToken(env: Env): DevTokenResult {
  const { token, from, problem } = findToken(env)
  if (token !== undefined) return { token }
  if (from === TOKEN_VARIABLE) throw createVariableError(problem ?? '')
  const file = findTokenFile(env)
  try {
    const found = readTokenFile(file)
    // Another process may have just written it.
    if (found?.token !== undefined) return { token: found.token }
    const created = createTokenFile(file, found !== undefined)
    if (found === undefined) return { token: created }
    return {
      token: created,
      note: `the token was replaced, since ${file} ${found.problem}; an open page needs the new address`,
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return {
      token: createToken(),
      note: `the token cannot be stored in ${file} (${reason}) and is valid for this run only; set ${TOKEN_VARIABLE} to keep one`,
    }
  }
}

export interface FoundToken {
  readonly token: string
  /** Name of the variable or the file. */
  readonly from: string
}

/** Like `findOrCreateToken`, but creates no token. @throws CommandError if there is none */
export function requireToken(env: Env): FoundToken {
  const { token, from, problem = '' } = findToken(env)
  if (token !== undefined) return { token, from }
  if (from === TOKEN_VARIABLE) throw createVariableError(problem)
  const advice = `pino-ingest dev creates it; if the service uses another token, set ${TOKEN_VARIABLE} to it`
  throw new CommandError('TOKEN', `there is no token for the local service: ${from} ${problem}. ${advice}`, EXIT_FAILED)
}

function createVariableError(problem: string): CommandError {
  return new CommandError('CONFIG', `${TOKEN_VARIABLE} ${problem}`, EXIT_USAGE)
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
