/** The file behind the store, and where it is. */
import { resolveInSafeFolder } from '../../shared/safe-folders.js'
import { createStoreError } from './store-error.js'

export interface StoreFile {
  /** As the user wrote it, for messages. */
  readonly name: string
  /** Resolved once, so that journal and lock are in one folder, also if somebody replaces a link to it. */
  readonly path: string
}

/** Creates the folder if it is missing. @throws IngestServiceError `STORE` if others can replace files in it, or it cannot be created */
export function resolveStoreFile(name: string): StoreFile {
  try {
    return { name, path: resolveInSafeFolder(name) }
  } catch (error) {
    throw createStoreError(name, error)
  }
}
