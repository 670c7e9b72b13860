/** What lies in a destination's folder, log entries or request logs: each goes to its own endpoint. */
import { parseBatchEntries } from '../../batch/sub-batch.js'
import { readUnsettledBatches } from '../../spool/inspect.js'
import type { FoundDestination } from '../../spool/inspect.js'
import { readLines, parseDeadLetter } from './read-dead-letters.js'

export type ItemKind = 'entries' | 'requests'

/**
 * By its name where the present configuration knows it, else by the first that lies there: a name is a hash of url and key.
 * @returns undefined where nothing in it can be read. Never rejects
 */
export async function findKind(
  destination: FoundDestination,
  known: ReadonlyMap<string, ItemKind>,
): Promise<ItemKind | undefined> {
  const kind = known.get(destination.name)
  if (kind !== undefined) return kind
  for await (const json of firstItems(destination)) {
    const found = parseItemKind(json)
    if (found !== undefined) return found
  }
  return undefined
}

interface Known {
  readonly destinations: readonly FoundDestination[]
  readonly kinds: ReadonlyMap<string, ItemKind>
}

/** The same for the destinations of all that was picked; to be asked before anything is claimed, and so moved. Never rejects. */
export async function findKinds(
  { destinations, kinds }: Known,
  picked: readonly { readonly destination: string }[],
): Promise<ReadonlyMap<string, ItemKind>> {
  const names = new Set(picked.map(({ destination }) => destination))
  const found = new Map<string, ItemKind>()
  for (const destination of destinations.filter(({ name }) => names.has(name))) {
    const kind = await findKind(destination, kinds)
    if (kind !== undefined) found.set(destination.name, kind)
  }
  return found
}

/** A log entry must have a level, a request log a status (interface: Resources). Pure. */
export function parseItemKind(json: string): ItemKind | undefined {
  try {
    const item = Object(JSON.parse(json)) as object
    if ('level' in item) return 'entries'
    return 'status_code' in item ? 'requests' : undefined
  } catch {
    return undefined // damaged in a way that no checksum tells
  }
}

/** One of each file. */
async function* firstItems({ instances, deadLetters: letters }: FoundDestination): AsyncGenerator<string> {
  for (const { path } of instances.flatMap(({ isForeign, segments }) => (isForeign ? [] : segments))) {
    yield* await attempt(() => firstOfSegment(path))
  }
  for (const { path } of letters) yield* await attempt(() => firstOfLetters(path))
}

async function firstOfSegment(path: string): Promise<string[]> {
  let first: string | undefined
  await readUnsettledBatches(path, ({ read: { runs: pieces } }) => {
    const list = Buffer.concat([Buffer.from('['), pieces[0]?.text ?? Buffer.alloc(0), Buffer.from(']')])
    first = parseBatchEntries(list)[0]
    return first === undefined
  })
  return first === undefined ? [] : [first]
}

async function firstOfLetters(path: string): Promise<string[]> {
  for await (const line of readLines(path)) {
    const letter = parseDeadLetter(line)
    if (letter !== undefined) return [letter.entry]
  }
  return []
}

/** What cannot be read, or was settled and deleted meanwhile, tells nothing; who then reads it to show or send it says why. */
async function attempt(read: () => Promise<string[]>): Promise<string[]> {
  try {
    return await read()
  } catch {
    return []
  }
}
