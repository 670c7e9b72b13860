/** Determines whether a destination contains log entries or request logs. Each kind has its own endpoint. */
import { parseBatchEntries } from '../../batch/sub-batch.js'
import { readUnsettledBatches } from '../../spool/segment/unsettled-batch.js'
import type { FoundDestination } from '../../spool/inspect.js'
import { parseDeadLetter, readLines } from './read-dead-letters.js'

export type ItemKind = 'entries' | 'requests'

/**
 * Reads the first readable item, since a destination's name is a hash of URL and key. Undefined if there is none. Never rejects.
 */
export async function findKind({ instances, deadLetters }: FoundDestination): Promise<ItemKind | undefined> {
  const segments = instances.flatMap(({ isForeign, segments: files }) => (isForeign ? [] : files))
  const reads = [
    ...segments.map(
      ({ path }) =>
        () =>
          readFirstEntry(path),
    ),
    ...deadLetters.map(
      ({ path }) =>
        async () =>
          readFirstDeadLetter(path),
    ),
  ]
  for (const read of reads) {
    // A file that cannot be read is reported when its content is shown or sent.
    const kind = parseItemKind((await read().catch(() => undefined)) ?? '')
    if (kind !== undefined) return kind
  }
  return undefined
}

/** A log entry must have a level, a request log a status (interface: Resources). Pure. */
export function parseItemKind(json: string): ItemKind | undefined {
  try {
    const item = Object(JSON.parse(json)) as object
    if ('level' in item) return 'entries'
    return 'status_code' in item ? 'requests' : undefined
  } catch {
    return undefined // Damaged without a wrong checksum.
  }
}

async function readFirstEntry(path: string): Promise<string | undefined> {
  let first: string | undefined
  await readUnsettledBatches(path, ({ read: { runs } }) => {
    const list = Buffer.concat([Buffer.from('['), runs[0]?.text ?? Buffer.alloc(0), Buffer.from(']')])
    first = parseBatchEntries(list)[0]
    return first === undefined
  })
  return first
}

function readFirstDeadLetter(path: string): string | undefined {
  return readLines(path)
    .map(parseDeadLetter)
    .find((letter) => letter !== undefined)?.entry
}
