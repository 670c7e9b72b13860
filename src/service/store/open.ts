/** The store that the options ask for. */
import type { Resolved } from '../options.js'
import { MemoryStore } from './memory.js'
import { CountingStore } from './none.js'
import { SqliteStore } from './sqlite.js'
import type { Store } from './store.js'

/** @throws IngestServiceError `STORE` where the file or the runtime does not allow it. */
export function openStore({ store, dbFile, maxEntries, maxStoreBytes, onProblem }: Resolved): Store {
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
