/** Upper limits of options that decide how much the spool writes at once: what claims more on disk is damage. */

const MIB = 1024 * 1024

/** Of option `maxEntryBytes`. */
export const LARGEST_ENTRY_BYTES = 16 * MIB
/** Of option `batchBytes`, and so of a batch: an entry that goes alone is shorter. */
export const LARGEST_BATCH_BYTES = 64 * MIB
