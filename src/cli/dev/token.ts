/** The token that opens the local service: one for each user, kept, so that an open page and `tail` outlive a restart. */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, fsyncSync, linkSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { isToken } from '../../service/token-rule.js'
import { createFile, ensureNamedRoot, openOwn } from '../../spool/folders.js'
import { CommandError, EXIT_FAILED, EXIT_USAGE } from '../command.js'

export const TOKEN_VARIABLE = 'PINO_INGEST_DEV_TOKEN'

type Env = Readonly<Record<string, string | undefined>>

export interface DevToken {
  readonly token: string
  /** For the user: what was found, and what it means. */
  readonly note?: string
}

const TOKEN_BYTES = 16
/** Nothing longer is a token. */
const MAX_FILE_BYTES = 1024
const OTHERS = 0o077
/** Where there are no user ids (Windows), a mode says nothing. */
const hasModes = process.getuid !== undefined

/** @see XDG Base Directory Specification, by which a path that is not absolute does not count */
export function tokenFile(env: Env): string {
  const named = process.platform === 'win32' ? env['LOCALAPPDATA'] : env['XDG_STATE_HOME']
  const base = named !== undefined && isAbsolute(named) ? named : join(homedir(), '.local', 'state')
  return join(base, 'pino-ingest', 'dev-token')
}

/** Makes one where there is none that can be used. @throws CommandError for a variable that holds no token */
export function devToken(env: Env): DevToken {
  const given = tokenInVariable(env)
  if (given !== undefined) return { token: given }
  const file = tokenFile(env)
  try {
    const found = tokenInFile(file)
    if (found.token !== undefined) return { token: found.token }
    if (found.problem === undefined) return { token: makeFile(file, 'unless-there') }
    return { token: makeFile(file, 'replacing'), note: `${file} ${found.problem}, so there is a new token in it; a page that is open needs the new address` }
  } catch (error) {
    return { token: newToken(), note: `no token can be kept in ${file} (${wordsOf(error)}), so this one is for this run alone; ${TOKEN_VARIABLE} can name one that stays` }
  }
}

export interface ExistingToken {
  readonly token: string
  /** The variable's name, or the file's. */
  readonly from: string
}

/** As `devToken`, but makes none. @throws CommandError where there is none */
export function existingToken(env: Env): ExistingToken {
  const given = tokenInVariable(env)
  if (given !== undefined) return { token: given, from: TOKEN_VARIABLE }
  const from = tokenFile(env)
  const { token, problem = 'is not there' } = attempt(from)
  if (token !== undefined) return { token, from }
  throw new CommandError('TOKEN', `there is no token for the local service: ${from} ${problem}. pino-ingest dev makes it; where that has another, set ${TOKEN_VARIABLE} to it`, EXIT_FAILED)
}

function attempt(file: string): Found {
  try {
    return tokenInFile(file)
  } catch (error) {
    return { problem: `cannot be read (${wordsOf(error)})` }
  }
}

function tokenInVariable(env: Env): string | undefined {
  const given = env[TOKEN_VARIABLE]
  if (given === undefined || given === '') return undefined
  if (isToken(given)) return given
  throw new CommandError('CONFIG', `${TOKEN_VARIABLE} must have 16 to 512 letters, digits, - or _ (not shown, ${given.length} characters)`, EXIT_USAGE)
}

interface Found {
  readonly token?: string
  /** Why the file's is not taken. With neither there is no file. */
  readonly problem?: string
}

/** @throws UnsafeError for what is not a file of this user; the system's errors */
function tokenInFile(file: string): Found {
  let fd: number
  try {
    fd = openOwn(file, constants.O_RDONLY)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  try {
    const { mode, size } = fstatSync(fd)
    if (hasModes && (mode & OTHERS) !== 0) return { problem: `could be read by others (mode ${(mode & 0o777).toString(8)})` }
    const text = size > MAX_FILE_BYTES ? '' : readFileSync(fd, 'utf8').trim()
    return isToken(text) ? { token: text } : { problem: 'held no token' }
  } finally {
    closeSync(fd)
  }
}

/**
 * Whole or not at all, so that nobody reads half of it.
 * @returns the token that is in the file now: another start may have been quicker
 */
function makeFile(file: string, mode: 'unless-there' | 'replacing'): string {
  ensureNamedRoot(dirname(file))
  const whole = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    writeNew(whole, `${newToken()}\n`)
    if (mode === 'replacing' || !isLinked(whole, file)) renameSync(whole, file)
  } finally {
    rmSync(whole, { force: true })
  }
  const { token, problem } = tokenInFile(file)
  if (token === undefined) throw new Error(problem ?? 'it is gone')
  return token
}

function writeNew(path: string, text: string): void {
  const fd = createFile(path)
  try {
    writeSync(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Not every file system has links: there the last start wins, and not the first. */
function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST'
  }
}

/** 128 bit. */
function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
