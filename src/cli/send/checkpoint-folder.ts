/** The checkpoints for one service and key, one per sent file. */
import { closeSync, constants, existsSync, lstatSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { openPrivate, removeTemporaries } from '../../shared/safe-files.js'
import { createFolders, ensureNamedRoot } from '../../shared/safe-folders.js'
import { CommandError, EXIT_FAILED } from '../shared/command.js'
import { Checkpoint, createState, computeDigest, readState } from './checkpoint.js'

export interface CheckpointFolderOptions {
  readonly dir: string
  /** Names of the destinations: the current key's first, then those of former keys. */
  readonly destinations: readonly string[]
  /** See `CheckpointState`. */
  readonly options: string
  /** Ignores earlier checkpoints. */
  readonly isRestart: boolean
  /** Default: that of this process. */
  readonly platform?: NodeJS.Platform
}

export class CheckpointFolder {
  /** Folder for the service and key. */
  readonly path: string
  readonly #options: CheckpointFolderOptions

  /** @throws CommandError if the folder cannot be used */
  constructor(options: CheckpointFolderOptions) {
    this.#options = options
    this.path = join(options.dir, options.destinations[0] ?? '')
    try {
      ensureNamedRoot(options.dir)
      createFolders(this.path)
    } catch (error) {
      throw createError(
        `checkpoints cannot be stored in ${options.dir}: ${(error as Error).message}; set another folder with --state DIR`,
      )
    }
  }

  /** @param fileId undefined for stdin, which has no checkpoint on disk @throws CommandError */
  open(fileId: string | undefined): { readonly checkpoint: Checkpoint; readonly hasOtherOptions: boolean } {
    const { dir, destinations, options, isRestart, platform = process.platform } = this.#options
    if (fileId === undefined)
      return { checkpoint: new Checkpoint(createState(options), undefined), hasOtherOptions: false }
    const [path = '', ...former] = destinations.map((name) => join(dir, name, `${computeDigest(fileId)}.json`))
    let previousFd: number | undefined
    try {
      removeTemporaries(path)
      for (const one of former) if (existsSync(one) && !existsSync(path)) renameSync(one, path)
      if (!isRestart && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
        previousFd = openPrivate(path, constants.O_RDONLY)
      const found = previousFd === undefined ? undefined : readState(previousFd)
      const isUsable = found?.options === options
      if (previousFd !== undefined && platform === 'win32') {
        closeSync(previousFd) // Windows replaces no open file
        previousFd = undefined
      }
      const checkpoint = new Checkpoint(isUsable ? found : createState(options), path)
      // A process that still sends the file may have saved a later position. It stops at its next save.
      if (isUsable && previousFd !== undefined) checkpoint.save(readState(previousFd))
      return { checkpoint, hasOtherOptions: found !== undefined && !isUsable }
    } catch (error) {
      throw createError(`checkpoint ${path} cannot be used: ${(error as Error).message}; --restart ignores it`)
    } finally {
      if (previousFd !== undefined) closeSync(previousFd)
    }
  }
}

function createError(message: string): CommandError {
  return new CommandError('STATE', message, EXIT_FAILED)
}
