/** A folder that contains only a bundler's output, without node_modules in it or above it. */
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param {import('./types.d.mts').Kit} kit
 * @param {string} name of the new folder
 * @param {readonly string[]} sources folders whose contents are copied, or files
 * @param {string} [under] a folder within the new one
 * @returns the new folder
 */
export function box(kit, name, sources, under = '') {
  const folder = kit.folder(name)
  const entries = sources.flatMap((source) =>
    /\.[cm]?js$/.test(source) ? [source] : readdirSync(source).map((entry) => join(source, entry)),
  )
  for (const entry of entries)
    cpSync(entry, join(folder, under, entry.split(/[\\/]/).at(-1) ?? ''), { recursive: true })
  return folder
}

/**
 * The two cells of a bundle: with `ingestStream()`, and with the worker.
 *
 * @param {{ row: string, kind?: string, cwd: string }} cell
 * @param {string} stream file @param {string} worker file
 * @param {{ takes?: string, refuses?: RegExp }} outcome `refuses`: of the worker
 * @returns {[import('./types.d.mts').Cell, import('./types.d.mts').Cell]}
 */
export function pair(cell, stream, worker, { takes, refuses }) {
  const shared = { table: /** @type {const} */ ('tools'), ...cell, ...(takes && { takes }) }
  return [
    { ...shared, column: 'in-process', command: ['node', stream] },
    { ...shared, column: 'worker thread', command: ['node', worker], ...(refuses && { refuses }) },
  ]
}
