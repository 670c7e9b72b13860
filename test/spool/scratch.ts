/** Folders for tests of the spool, in memory where the system has some for files. */
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
    return tmpdir() // no such folder, or not ours to write in
  }
}
