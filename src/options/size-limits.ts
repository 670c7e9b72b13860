/** Upper limits of options that bound the size of a frame in the spool: a larger one on disk is damaged. */

const MIB = 1024 * 1024

/** Of option `maxEntryBytes`. */
export const LARGEST_ENTRY_BYTES = 16 * MIB
/** Of option `batchBytes`, and so of a batch: an entry in a batch of its own is shorter. */
export const LARGEST_BATCH_BYTES = 64 * MIB
