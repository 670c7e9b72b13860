/** The token that opens the local service: one for each user, kept, so that an open page and `tail` outlive a restart. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { findToken, readTokenFile, findTokenFile, TOKEN_VARIABLE } from '../../options/dev-token.js'
import { createFile } from '../../shared/safe-files.js'
import { ensureNamedRoot } from '../../shared/safe-folders.js'
import { CommandError, EXIT_FAILED, EXIT_USAGE } from './command.js'

type Env = Readonly<Record<string, string | undefined>>

export interface DevTokenResult {
  readonly token: string
  /** For the user: what was found, and what it means. */
  readonly note?: string
}

const TOKEN_BYTES = 16

/** Makes one where there is none that can be used. @throws CommandError for a variable that holds no token */
export function findOrCreateToken(env: Env): DevTokenResult {
  const { token: given, from, problem } = findToken(env)
  if (given !== undefined) return { token: given }
  if (from === TOKEN_VARIABLE) throw wrongVariable(problem ?? '')
  const file = findTokenFile(env)
  try {
    const found = readTokenFile(file)
    if (found === undefined) return { token: createTokenFile(file, 'unless-there') }
    if (found.token !== undefined) return { token: found.token }
    return {
      token: createTokenFile(file, 'replacing'),
      note: `${file} ${found.problem}, so there is a new token in it; a page that is open needs the new address`,
    }
  } catch (error) {
    return {
      token: createToken(),
      note: `no token can be kept in ${file} (${toMessage(error)}), so this one is for this run alone; ${TOKEN_VARIABLE} can name one that stays`,
    }
  }
}

export interface FoundToken {
  readonly token: string
  /** The variable's name, or the file's. */
  readonly from: string
}

/** As `devToken`, but makes none. @throws CommandError where there is none */
export function requireToken(env: Env): FoundToken {
  const { token, from, problem = '' } = findToken(env)
  if (token !== undefined) return { token, from }
  if (from === TOKEN_VARIABLE) throw wrongVariable(problem)
  throw new CommandError(
    'TOKEN',
    `there is no token for the local service: ${from} ${problem}. pino-ingest dev makes it; where that has another, set ${TOKEN_VARIABLE} to it`,
    EXIT_FAILED,
  )
}

function wrongVariable(problem: string): CommandError {
  return new CommandError('CONFIG', `${TOKEN_VARIABLE} ${problem}`, EXIT_USAGE)
}

/**
 * Whole or not at all, so that nobody reads half of it.
 * @returns the token that is in the file now: another start may have been quicker
 */
function createTokenFile(file: string, mode: 'unless-there' | 'replacing'): string {
  ensureNamedRoot(dirname(file))
  const whole = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    writeNewFile(whole, `${createToken()}\n`)
    if (mode === 'replacing' || !tryLink(whole, file)) renameSync(whole, file)
  } finally {
    rmSync(whole, { force: true })
  }
  const { token, problem } = readTokenFile(file) ?? { problem: 'it is gone' }
  if (token === undefined) throw new Error(problem)
  return token
}

function writeNewFile(path: string, text: string): void {
  const fd = createFile(path)
  try {
    writeSync(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Not every file system has links: there the last start wins, and not the first. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST'
  }
}

/** 128 bit. */
function createToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
