/** Facts about this machine that decide which tests can run. */
import { existsSync } from 'node:fs'

/** Without modes, owners, FIFOs and a POSIX shell. */
export const isWindows = process.platform === 'win32'
/** Linux. */
export const hasProc = existsSync('/proc/self/fd')
