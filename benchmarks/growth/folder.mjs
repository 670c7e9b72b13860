/** The content of a folder that other processes change meanwhile. */
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** @param {string} dir @returns {{ files: number, bytes: number }} */
export function contentsOf(dir) {
  let files = 0
  let bytes = 0
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    // Deleted since the listing.
    const stats = lstatSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })
    if (stats === undefined) continue
    files += 1
    bytes += stats.size
  }
  return { files, bytes }
}
