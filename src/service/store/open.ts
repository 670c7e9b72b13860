/** The store that the options ask for. */
import type { ResolvedServiceOptions } from '../service-options.js'
import { MemoryStore } from './memory-store.js'
import { CountingStore } from './counting-store.js'
import { SqliteStore } from './sqlite.js'
import type { Store } from './store.js'

/** @throws IngestServiceError `STORE` where the file or the runtime does not allow it. */
export function openStore({ store, dbFile, maxEntries, maxStoreBytes, onProblem }: ResolvedServiceOptions): Store {
  const limits = { maxEntries, maxBytes: maxStoreBytes }
  const file = dbFile === undefined ? {} : { file: dbFile }
  switch (store) {
    case 'memory':
      return new MemoryStore({ ...limits, ...file, onProblem })
    case 'sqlite':
      return new SqliteStore({ ...limits, ...file })
    case 'none':
      return new CountingStore()
  }
}
