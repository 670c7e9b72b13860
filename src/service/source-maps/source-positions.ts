/**
 * Finds the original places of frames, through the source maps beside the compiled files.
 *
 * The locations are logged text, which every program on the machine can write. So only files with the names of scripts and maps are read,
 * no devices, nothing over the network, and the reply contains no file text except names from the map.
 */
import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isObject } from '../../shared/argument-checks.js'
import type { SourcePosition } from '../query/api-types.js'
import { createQueryError } from '../query/query-filters.js'
import { comparePoints, findMappings } from './find-mappings.js'
import type { Point } from './find-mappings.js'

const MAX_LOCATIONS = 100
/** 20 MB: such a map blocks the service for 0.3 s. */
const MAX_FILE_BYTES = 20_000_000
/** Limit for all files of a request. */
const MAX_BYTES = 60_000_000
/** Folders above a compiled file in which a source with a name instead of a path is searched. */
const MAX_FOLDERS = 32

const LOCATION = /^(.{1,4096}):(\d{1,9}):(\d{1,9})$/
const SCRIPT = /\.[cm]?js$/i
const MAP = /\.(?:map|json)$/i
const NETWORK_PATH = /^[\\/]{2}/
const COMMENT = '# sourceMappingURL='
const MAP_URL = /[^\s*'"`]+/y
/** The end of the comment, white space and comments. Alternatives do not overlap, so matching takes no exponential time. */
const ONLY_COMMENTS = /(?:\s*\*\/)?(?:\s|\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/y
/** A line that protects JSON from being run as a script (https://tc39.es/ecma426/#sec-fetching-source-maps). */
const PREFIX = /^\uFEFF?(?:\)\]\}'[^\n]*\n)?/

interface Location extends Point {
  readonly file: string
}

/** Unchecked JSON. `sections`: https://tc39.es/ecma426/#sec-index-source-map */
interface SourceMap {
  readonly mappings: string
  readonly sources: readonly unknown[]
  readonly names?: readonly unknown[]
  readonly sourceRoot?: unknown
  readonly sections?: readonly { readonly offset: Point; readonly map: SourceMap }[]
}

interface Original extends Point {
  readonly source: string
  readonly name: string | null
}

type Read = (path: string) => Promise<Buffer>

/**
 * Parses the body of a request: `{ "at": ["/app/dist/orders.js:1:2345"] }`.
 * @throws IngestServiceError `QUERY`
 */
export function parseLocations(body: unknown): readonly Location[] {
  const at = isObject(body) ? body['at'] : undefined
  if (!Array.isArray(at) || at.length > MAX_LOCATIONS)
    throw createQueryError('at', `an array of up to ${MAX_LOCATIONS} locations`, at)
  return at.map((text: unknown) => {
    const [, file, line, column] = (typeof text === 'string' && LOCATION.exec(text)) || []
    if (file === undefined) throw createQueryError('at', 'FILE:LINE:COLUMN', text)
    return { file, line: Number(line) - 1, column: Number(column) - 1 }
  })
}

let turn: Promise<unknown> = Promise.resolve()

/**
 * Returns null for a location without a map. Requests take turns, which limits the memory.
 * @param isWanted whether somebody still waits for the reply; false skips the request
 */
export function findSourcePositions(
  locations: readonly Location[],
  isWanted: () => boolean,
): Promise<(SourcePosition | null)[]> {
  const result = turn.then(() => (isWanted() ? findAll(locations) : []))
  turn = result
  return result
}

async function findAll(locations: readonly Location[]): Promise<(SourcePosition | null)[]> {
  const found = locations.map((): SourcePosition | null => null)
  const read = createReader()
  for (const file of new Set(locations.map((one) => one.file))) {
    const indices = [...locations.keys()].filter((index) => locations[index]?.file === file)
    const points = indices.map((index) => locations[index] as Location)
    const positions = await findInFile(file, points, read)
    indices.forEach((index, at) => (found[index] = positions[at] ?? null))
  }
  return found
}

async function findInFile(given: string, points: readonly Point[], read: Read): Promise<(SourcePosition | null)[]> {
  try {
    const file = given.startsWith('file:') ? fileURLToPath(given) : given
    if (!SCRIPT.test(file)) return []
    const { map, base } = await readMap(file, read)
    // A source whose name is no URL does not hide the others.
    const resolve = (one: Original) => resolvePosition(one, base).catch(() => null)
    return await Promise.all(findOriginals(map, points).map((one) => one && resolve(one)))
  } catch {
    // Files that are missing, not readable or invalid are as common as files without a map: the page then shows the compiled place.
    return []
  }
}

/** Reads regular files, without waiting for the writer of a FIFO. It throws for others, and beyond the limits. */
function createReader(): Read {
  let left = MAX_BYTES
  return async (path) => {
    if (!isAbsolute(path) || NETWORK_PATH.test(path)) throw new Error('not a local path')
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const stats = await file.stat()
      if (!stats.isFile() || stats.size > Math.min(MAX_FILE_BYTES, left)) throw new Error('not a file within the limit')
      left -= stats.size
      // Not more than this size, because files of /proc have none and no end.
      const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }
}

/** Sources are relative to `base`. */
async function readMap(file: string, read: Read): Promise<{ readonly map: SourceMap; readonly base: URL }> {
  const at = pathToFileURL(file)
  const comment = findComment(await read(file))
  if (comment?.startsWith('data:') === true) return { map: parseDataUrl(comment), base: at }
  // Bundlers can write the map without a comment, as "hidden" or "external".
  const base = comment === undefined ? pathToFileURL(`${file}.map`) : new URL(comment, at)
  const path = toLocalPath(base)
  if (path === undefined || !MAP.test(path)) throw new Error('not a map')
  return { map: parseMap((await read(path)).toString()), base }
}

/** Returns the URL of the last comment, unless code follows it: then it is part of a text in the code. */
function findComment(code: Buffer): string | undefined {
  for (let at = code.lastIndexOf(COMMENT); at > 1; at = code.lastIndexOf(COMMENT, at - 1)) {
    if (!['//', '/*'].includes(code.toString('latin1', at - 2, at))) continue
    const text = code.toString('utf8', at + COMMENT.length)
    MAP_URL.lastIndex = 0
    const url = MAP_URL.exec(text)?.[0] ?? ''
    ONLY_COMMENTS.lastIndex = url.length
    return url !== '' && ONLY_COMMENTS.test(text) ? url : undefined
  }
  return undefined
}

function parseMap(text: string): SourceMap {
  return JSON.parse(text.replace(PREFIX, '')) as SourceMap
}

function parseDataUrl(url: string): SourceMap {
  const comma = url.indexOf(',')
  const data = url.slice(comma + 1)
  const isBase64 = url.slice(0, comma).endsWith(';base64')
  return parseMap(isBase64 ? Buffer.from(data, 'base64').toString() : decodeURIComponent(data))
}

/** Undefined for a URL of another protocol or host. */
function toLocalPath(url: URL): string | undefined {
  return url.protocol === 'file:' && url.host === '' ? fileURLToPath(url) : undefined
}

function findOriginals(map: SourceMap, points: readonly Point[]): (Original | null)[] {
  const { sections } = map
  if (sections !== undefined) return findInSections(sections, points)
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  const root = text(map.sourceRoot)?.replace(/([^/])$/, '$1/') ?? ''
  return findMappings(map.mappings, points).map((mapping) => {
    const source = mapping && text(map.sources[mapping.source])
    if (source === null) return null
    const isComplete = isAbsolute(source) || /^[a-z][\w+.-]*:/i.test(source)
    const { line, column, name } = mapping as NonNullable<typeof mapping>
    return { source: isComplete ? source : root + source, line, column, name: text(map.names?.[name ?? -1]) }
  })
}

function findInSections(sections: NonNullable<SourceMap['sections']>, points: readonly Point[]): (Original | null)[] {
  const found = points.map((): Original | null => null)
  sections.forEach(({ offset, map }, at) => {
    const end = sections[at + 1]?.offset
    const indices = [...points.keys()].filter((index) => {
      const point = points[index] as Point
      return comparePoints(point, offset) >= 0 && (end === undefined || comparePoints(point, end) < 0)
    })
    if (indices.length === 0) return
    const inSection = indices.map((index) => {
      const { line, column } = points[index] as Point
      return { line: line - offset.line, column: line === offset.line ? column - offset.column : column }
    })
    findOriginals(map, inSection).forEach((one, place) => (found[indices[place] as number] = one))
  })
  return found
}

async function resolvePosition(original: Original, base: URL): Promise<SourcePosition | null> {
  const { source, line, column, name } = original
  const file = await resolveSource(source, base)
  return file === undefined ? null : { file, line: line + 1, column: column + 1, name }
}

async function resolveSource(source: string, base: URL): Promise<string | undefined> {
  if (/^[a-z]:[\\/]/i.test(source)) return isAbsolute(source) ? source : undefined
  const folder = dirname(fileURLToPath(base))
  const url = new URL(source, base)
  if (url.protocol !== 'file:') return findByName(source, folder)
  // Sources are URLs, but some tools write the path as it is: `[id].ts`, `100%.ts`, `a#1.ts`.
  const asPath = isAbsolute(source) ? source : join(folder, source)
  return (await isFile(asPath)) ? asPath : toLocalPath(url)
}

/** Finds the file of `webpack://app/./src/orders.ts` below the nearest folder above the map that has it. */
async function findByName(source: string, folder: string): Promise<string | undefined> {
  const path = source.replace(/^[^:]*:\/\/[^/]*\//, '').replace(/\?[^/]*$/, '')
  for (let above = folder, count = 0; count < MAX_FOLDERS; above = dirname(above), count++) {
    if (await isFile(join(above, path))) return join(above, path)
  }
  return undefined
}

async function isFile(path: string): Promise<boolean> {
  return (
    !NETWORK_PATH.test(path) &&
    (await stat(path).then(
      (stats) => stats.isFile(),
      () => false,
    ))
  )
}
