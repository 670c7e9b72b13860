/** Creates the error for a journal that cannot be used. */
import { UnsafeError } from '../../shared/safe-files.js'
import { IngestServiceError } from '../ingest-service-error.js'

const REMEDY = '. Fix this, or use a file in a folder that only this user can write to'

export function createStoreError(file: string, error: unknown): IngestServiceError {
  if (error instanceof IngestServiceError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new IngestServiceError(
    'STORE',
    `cannot use the journal ${file}: ${reason}${error instanceof UnsafeError ? REMEDY : ''}`,
    error,
  )
}
