/** Upper limits of options that bound the size of a frame in the spool: a larger one on disk is damaged. */

const MIB = 1024 * 1024

/** Upper limit of the option `maxEntryBytes`. */
export const LARGEST_ENTRY_BYTES = 16 * MIB
/** Upper limit of the option `batchBytes`, and of any batch, since an entry alone in a batch is shorter. */
export const LARGEST_BATCH_BYTES = 64 * MIB
