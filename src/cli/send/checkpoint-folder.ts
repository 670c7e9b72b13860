/** The checkpoints for one service and key, one per sent file. */
import { existsSync, lstatSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { removeTemporaries } from '../../shared/safe-files.js'
import { createFolders, ensureNamedRoot } from '../../shared/safe-folders.js'
import { CommandError, EXIT_FAILED } from '../shared/command.js'
import { Checkpoint, createState, computeDigest, readState } from './checkpoint.js'

export interface CheckpointFolderOptions {
  readonly dir: string
  /** Names of the destinations: the current key's first, then those of former keys. */
  readonly destinations: readonly string[]
  /** Ignores earlier checkpoints. */
  readonly isRestart: boolean
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
  open(fileId: string | undefined): Checkpoint {
    const { dir, destinations, isRestart } = this.#options
    if (fileId === undefined) return new Checkpoint(createState(), undefined)
    const [path = '', ...former] = destinations.map((name) => join(dir, name, `${computeDigest(fileId)}.json`))
    try {
      removeTemporaries(path)
      for (const one of former) if (existsSync(one) && !existsSync(path)) renameSync(one, path)
      const isThere = !isRestart && lstatSync(path, { throwIfNoEntry: false }) !== undefined
      return new Checkpoint(isThere ? readState(path) : createState(), path)
    } catch (error) {
      throw createError(`checkpoint ${path} cannot be used: ${(error as Error).message}; --restart ignores it`)
    }
  }
}

function createError(message: string): CommandError {
  return new CommandError('STATE', message, EXIT_FAILED)
}
