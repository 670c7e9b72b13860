/** Sizes of entries and batches. The largest bound the size of a frame in the spool: a larger one on disk is damaged. */

const MIB = 1024 * 1024

/** Maximum size of a batch's whole body. A longer entry gets a batch of its own. */
export const BATCH_BYTES = MIB

/** Upper limit of the option `maxEntryBytes`. */
export const LARGEST_ENTRY_BYTES = 16 * MIB
/** Upper limit of any batch, since an entry alone in a batch is shorter. */
export const LARGEST_BATCH_BYTES = 64 * MIB
