/** The path of the journal, and the error if it cannot be used. */
import { UnsafeError } from '../../shared/safe-files.js'
import { resolveInSafeFolder } from '../../shared/safe-folders.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { toMessage } from '../../shared/errors.js'

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

const REMEDY = '. Fix this, or use a file in a folder that only this user can write to'

export function createStoreError(file: string, error: unknown): IngestServiceError {
  if (error instanceof IngestServiceError) return error
  const reason = toMessage(error)
  return new IngestServiceError(
    'STORE',
    `cannot use the journal ${file}: ${reason}${error instanceof UnsafeError ? REMEDY : ''}`,
    error,
  )
}
