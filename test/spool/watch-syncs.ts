/** How much of each segment was handed to the disk: `fdatasync`, watched. */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { fstatSync, readlinkSync, statSync } from 'node:fs'
import type fs from 'node:fs'
import { filesBelow, keyOf } from './disk-image.js'

const system = createRequire(import.meta.url)('node:fs') as typeof fs
const synced = new Map<string, number>()

function note(fd: number): void {
  synced.set(keyOf(readlinkSync(`/proc/self/fd/${fd}`)), fstatSync(fd).size)
}

/** @returns what undoes it */
export function watchSyncs(): () => void {
  const { fdatasync, fdatasyncSync } = system
  const later = (fd: number, done: (error: null) => void): void => {
    note(fd)
    setImmediate(done, null)
  }
  Object.assign(system, { fdatasync: later, fdatasyncSync: note })
  syncBuiltinESMExports()
  return () => {
    Object.assign(system, { fdatasync, fdatasyncSync })
    syncBuiltinESMExports()
  }
}

export function syncedBytes(path: string): number {
  return synced.get(keyOf(path)) ?? 0
}

/** As the kernel does by itself, some time after a process died. */
export function allIsSynced(root: string): void {
  synced.clear()
  for (const path of filesBelow(root)) if (path.endsWith('.seg')) synced.set(keyOf(path), statSync(path).size)
}
