/** This user's folder for state. */
import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'
import type { Environment } from './child-process.js'

/**
 * @see XDG Base Directory Specification, which ignores relative paths
 * @throws the system's error if there is no home directory
 */
export function findStatePath(env: Environment, name: string, platform = process.platform): string {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix
  const named = platform === 'win32' ? env['LOCALAPPDATA'] : env['XDG_STATE_HOME']
  const base = named !== undefined && isAbsolute(named) ? named : join(homedir(), '.local', 'state')
  return join(base, 'pino-ingest', name)
}
