/** Folders for spool tests, in memory if the system supports it. */
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'

export function scratchFolder(): string {
  return mkdtempSync(join(base(), 'spool-test-'))
}

export function removeScratch(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

function base(): string {
  try {
    accessSync(MEMORY, constants.W_OK)
    return MEMORY
  } catch {
    return tmpdir() // the folder does not exist or is not writable
  }
}
