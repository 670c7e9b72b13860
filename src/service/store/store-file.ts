/** Resolves the path of the journal. */
import { resolveInSafeFolder } from '../../shared/safe-folders.js'
import { createStoreError } from './store-error.js'

export interface StoreFile {
  /** The path as the user wrote it, for messages. */
  readonly name: string
  /** Resolved once: journal and lock stay in one folder even if a link to it is replaced. */
  readonly path: string
}

/** Creates the folder if it is missing. @throws IngestServiceError `STORE` if other users can replace files in it, or it cannot be created */
export function resolveStoreFile(name: string): StoreFile {
  try {
    return { name, path: resolveInSafeFolder(name) }
  } catch (error) {
    throw createStoreError(name, error)
  }
}
