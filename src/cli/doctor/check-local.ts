/** Checks the spool folder and the module of `beforeSend`. */
import { randomBytes } from 'node:crypto'
import { rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { loadHook } from '../../filter/load-hook.js'
import type { Settings } from '../../options/resolve-options.js'
import { systemClock } from '../../shared/clock.js'
import { ensureFolder } from '../../shared/safe-folders.js'
import { inspectRoot } from '../../spool/inspect.js'
import { readMachine } from '../../spool/instance/ownership.js'
import { RESERVED_BYTES } from '../../spool/segment/segment-writer.js'
import { findDefaultRoot, ensureRoot } from '../../spool/spool-root.js'
import { formatSize } from '../shared/terminal.js'
import { findSent } from '../spool/locate-spool.js'
import { fail, pass } from '../shared/check.js'
import type { Check } from '../shared/check.js'
import { toMessage } from '../../shared/errors.js'

/** Removes the files and folders that it creates. */
export async function checkLocal(settings: Settings): Promise<Check[]> {
  const { enabled, spool, beforeSend } = settings
  return [
    ...(enabled && spool !== false ? [checkSpool(spool.dir, settings)] : []),
    ...(typeof beforeSend === 'string' ? [await checkHook(beforeSend, settings.secrets)] : []),
  ]
}

/**
 * Creates the same items as the transport at startup: the root, a folder in it, and a file in that folder. The file is as
 * large as the reserve of the spool and one entry: the spool itself fills a volume up to the reserve.
 */
function checkSpool(dir: string | undefined, settings: Settings): Check {
  const root = dir === undefined ? findDefaultRoot() : resolve(dir)
  const probe = join(root, `doctor-${randomBytes(8).toString('hex')}`)
  let created: readonly string[] = []
  try {
    created = ensureRoot(root, dir !== undefined)
    ensureFolder(probe)
    created = [...created, probe]
    const file = join(probe, 'file')
    try {
      writeFileSync(file, randomBytes(RESERVED_BYTES + settings.maxEntryBytes), { flag: 'wx' })
    } finally {
      rmSync(file, { force: true })
    }
    const foreign = countForeignBytes(root, settings)
    if (foreign === 0) return pass('spool', `${root} is writable`)
    const detail = `${root} is writable; it contains ${formatSize(foreign)} of entries for another destination, which are not sent`
    return pass(
      'spool',
      detail,
      'list them with npx pino-ingest spool ls, send them with npx pino-ingest spool replay ID',
    )
  } catch (error) {
    return fail(
      'spool',
      `entries cannot be stored on disk: ${toMessage(error)}`,
      "free space, or set PINO_INGEST_SPOOL_DIR to a folder on a writable disk that belongs to the application's user; until then entries are kept in memory",
    )
  } finally {
    // Otherwise the folders would belong to the user who ran `doctor`.
    try {
      for (const folder of created.toReversed()) rmdirSync(folder)
    } catch {
      // Folders in use by other processes are not empty and are kept.
    }
  }
}

/** Bytes left by exited processes for other destinations. @throws UnsafeError; the system's errors */
function countForeignBytes(root: string, settings: Settings): number {
  const own = findSent(root, settings)
  return inspectRoot(root, { machine: readMachine(), wallNowMs: systemClock.wallNow() })
    .filter(({ name }) => !own.includes(name))
    .flatMap(({ instances }) => instances.filter(({ isFree }) => isFree).flatMap(({ segments }) => segments))
    .reduce((sum, { bytes }) => sum + bytes, 0)
}

async function checkHook(path: string, secrets: Settings['secrets']): Promise<Check> {
  try {
    await loadHook(path, secrets)
    return pass('beforeSend', `${path} is loaded`)
  } catch (error) {
    return fail(
      'beforeSend',
      toMessage(error),
      'set PINO_INGEST_BEFORE_SEND to a module whose default export is a function, or unset it; the transport does not start with this one',
    )
  }
}
