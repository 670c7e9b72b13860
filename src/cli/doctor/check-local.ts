/** Checks of what the transport uses on this machine: the folder of its spool and the module of `beforeSend`. */
import { randomBytes } from 'node:crypto'
import { closeSync, unlinkSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock } from '../../shared/clock.js'
import { loadHook } from '../../filter/load-hook.js'
import type { Settings } from '../../options/resolve-options.js'
import { createFile } from '../../shared/safe-files.js'
import { ensureFolder } from '../../shared/safe-folders.js'
import { inspectRoot } from '../../spool/inspect.js'
import { removeEmptyFolder } from '../../spool/instance/instance-folder.js'
import { readMachine } from '../../spool/instance/ownership.js'
import { defaultRoot, ensureRoot } from '../../spool/spool-root.js'
import { listDestinations } from '../spool/locate.js'
import { formatSize } from '../shared/terminal-format.js'
import type { Check } from './doctor-check.js'

/** A module may wait at its top level; with nothing else to do, Node would end in silence. */
const LOAD_TIMEOUT_MS = 10_000

/** Of what is configured. Leaves the disk as it was. */
export async function checkLocal(settings: Settings): Promise<Check[]> {
  const { enabled, spool, beforeSend } = settings
  return [
    ...(enabled && spool !== false ? [checkSpool(spool.dir, settings)] : []),
    ...(beforeSend === undefined ? [] : [await checkHook(beforeSend)]),
  ]
}

/** As the transport begins: the root, a folder in it, a file in that. */
function checkSpool(dir: string | undefined, settings: Settings): Check {
  const name = 'spool'
  const root = dir === undefined ? defaultRoot() : resolve(dir)
  let created: readonly string[] = []
  const probe = join(root, `doctor-${randomBytes(8).toString('hex')}`)
  try {
    created = ensureRoot(root, dir !== undefined)
    ensureFolder(probe)
    created = [...created, probe]
    const file = join(probe, 'file')
    const fd = createFile(file)
    try {
      writeSync(fd, 'x')
    } finally {
      closeSync(fd)
      unlinkSync(file)
    }
    const detail = `${root} can be written`
    const foreign = countForeignBytes(root, settings)
    if (foreign === 0) return { name, ok: true, detail }
    return {
      name,
      ok: true,
      detail: `${detail}; ${formatSize(foreign)} of entries for another url or key are stored there and are not sent`,
      fix: 'list them with npx pino-ingest spool ls, send them with npx pino-ingest spool replay ID',
    }
  } catch (error) {
    return {
      name,
      ok: false,
      detail: `entries cannot be kept on disk: ${error instanceof Error ? error.message : String(error)}`,
      fix: 'set PINO_INGEST_SPOOL_DIR to a folder on a writable disk that belongs to the user that the application runs as; until then entries are kept in memory',
    }
  } finally {
    // Removes created folders: they would belong to the user who ran `doctor`. Folders in use are not empty and stay.
    for (const folder of created.toReversed()) removeEmptyFolder(folder)
  }
}

/** What processes that have ended left for another url or key, in bytes. Claims nothing. @throws UnsafeError; the system's errors */
function countForeignBytes(root: string, settings: Settings): number {
  const own = listDestinations(settings).flatMap(({ entries, requests }) => [entries, requests])
  return inspectRoot(root, { machine: readMachine(), wallNowMs: systemClock.wallNow() })
    .filter(({ name }) => !own.includes(name))
    .flatMap(({ instances }) => instances.filter(({ isFree }) => isFree).flatMap(({ segments }) => segments))
    .reduce((sum, { bytes }) => sum + bytes, 0)
}

/** As the worker does. */
async function checkHook(path: string): Promise<Check> {
  const name = 'beforeSend'
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the module ${JSON.stringify(path)} was not loaded after ${LOAD_TIMEOUT_MS / 1000} s`)),
      LOAD_TIMEOUT_MS,
    )
  })
  try {
    await Promise.race([loadHook(path), late])
    return { name, ok: true, detail: `${path} is loaded` }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return {
      name,
      ok: false,
      detail,
      fix: 'set PINO_INGEST_BEFORE_SEND to a module whose default export is a function, or unset it; with this one the transport does not start',
    }
  } finally {
    clearTimeout(timer)
  }
}
