/**
 * Finds the original places of frames, through the source maps beside the compiled files.
 *
 * The locations are logged text, which every program on the machine can write. So only files with the names of scripts and maps are read,
 * no devices, nothing over the network, and the reply contains names from the map and three lines of source. The lines come from the
 * map, or from the file if it is below the working directory, and only if a stored entry's stack names the location.
 */
import { constants } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, sep } from 'node:path'
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

/** The code of one longer line says little: it is minified. */
const MAX_LINE_CHARS = 500

const LOCATION = /^(.{1,4096}):(\d{1,9}):(\d{1,9})$/
const SCRIPT = /\.[cm]?js$/i
const SOURCE = /\.[cm]?[jt]sx?$/i
const MAP = /\.(?:map|json)$/i
const NETWORK_PATH = /^[\\/]{2}/
const COMMENT = /\/[/*]# sourceMappingURL=([^\s*'"`]+)/g
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
  readonly sourcesContent?: readonly unknown[]
  readonly sections?: readonly { readonly offset: Point; readonly map: SourceMap }[]
}

interface Original extends Point {
  readonly source: string
  readonly name: string | null
  readonly content: string | null
}

type Read = (path: string) => Promise<Buffer>

/**
 * Parses the body of a request: `{ "at": ["/app/dist/orders.js:1:2345"], "entry": "ent_1" }`.
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
 * @param stack of a stored entry; if it names the first location, the reply has the lines around it
 */
export function findSourcePositions(
  locations: readonly Location[],
  isWanted: () => boolean,
  stack = '',
): Promise<(SourcePosition | null)[]> {
  const result = turn.then(() => (isWanted() ? findAll(locations, stack) : []))
  turn = result
  return result
}

async function findAll(locations: readonly Location[], stack: string): Promise<(SourcePosition | null)[]> {
  const found = locations.map((): SourcePosition | null => null)
  const read = createReader()
  for (const file of new Set(locations.map((one) => one.file))) {
    const indices = [...locations.keys()].filter((index) => locations[index]?.file === file)
    const points = indices.map((index) => locations[index] as Location)
    const hasLines = indices[0] === 0 && isNamed(points[0] as Location, stack)
    const positions = await findInFile(file, points, hasLines, read)
    indices.forEach((index, at) => (found[index] = positions[at] ?? null))
  }
  return found
}

/** Whether a frame of the stack has the location, as a path or as a URL. */
function isNamed({ file, line, column }: Location, stack: string): boolean {
  const names = isAbsolute(file) ? [file, pathToFileURL(file).href] : [file]
  const endings = names.flatMap((name) => [` ${name}:${line + 1}:${column + 1}`, `(${name}:${line + 1}:${column + 1})`])
  return stack.split('\n').some((frame) => endings.some((ending) => frame.endsWith(ending)))
}

/** @param hasLines whether the first position has the lines around it */
async function findInFile(
  given: string,
  points: readonly Point[],
  hasLines: boolean,
  read: Read,
): Promise<(SourcePosition | null)[]> {
  try {
    const file = given.startsWith('file:') ? fileURLToPath(given) : given
    const positions = SCRIPT.test(file) ? await findByMap(file, points, hasLines, read) : []
    if (!hasLines || (positions[0] ?? null) !== null) return positions
    return [await readLines(file, points[0] as Point, read), ...positions.slice(1)]
  } catch {
    // Files that are missing, not readable or invalid are as common as files without a map: the page then shows the compiled place.
    return []
  }
}

async function findByMap(
  file: string,
  points: readonly Point[],
  hasLines: boolean,
  read: Read,
): Promise<(SourcePosition | null)[]> {
  try {
    const { map, base } = await readMap(file, read)
    // A source whose name is no URL does not hide the others.
    const resolve = (one: Original, index: number) =>
      resolvePosition(one, base, hasLines && index === 0).catch(() => null)
    return await Promise.all(findOriginals(map, points).map((one, index) => one && resolve(one, index)))
  } catch {
    return []
  }
}

/** A source file that is not compiled. */
async function readLines(file: string, { line, column }: Point, read: Read): Promise<SourcePosition | null> {
  const path = await realpath(file)
  if (!SOURCE.test(path) || !path.startsWith((await realpath('.')) + sep)) return null
  return { file, line: line + 1, column: column + 1, name: null, ...selectLines((await read(path)).toString(), line) }
}

/** @param line from 0 */
function selectLines(text: string, line: number): Pick<SourcePosition, 'lines'> {
  const from = Math.max(0, line - 1)
  const lines = text.split(/\r?\n/, line + 2).slice(from)
  const isReadable = lines.length > line - from && lines.every(({ length }) => length <= MAX_LINE_CHARS)
  return isReadable ? { lines: { start: from + 1, text: lines } } : {}
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

/** Finds the map that the last comment names, or the one beside the file. Sources are relative to `base`. */
async function readMap(file: string, read: Read): Promise<{ readonly map: SourceMap; readonly base: URL }> {
  const at = pathToFileURL(file)
  const comment = [...(await read(file)).toString().matchAll(COMMENT)].at(-1)?.[1]
  // Bundlers can write the map without a comment, as "hidden" or "external"; and the code may have a text like one.
  return readMapAt(comment ?? '', at, read).catch(() => readMapAt(`${at.href}.map`, at, read))
}

async function readMapAt(url: string, at: URL, read: Read): Promise<{ readonly map: SourceMap; readonly base: URL }> {
  if (url.startsWith('data:')) return { map: parseDataUrl(url), base: at }
  const base = new URL(url, at)
  const path = toLocalPath(base)
  if (path === undefined || !MAP.test(path)) throw new Error('not a map')
  return { map: parseMap((await read(path)).toString()), base }
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
    return {
      source: isComplete ? source : root + source,
      line,
      column,
      name: text(map.names?.[name ?? -1]),
      content: text(map.sourcesContent?.[mapping?.source ?? -1]),
    }
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

async function resolvePosition(original: Original, base: URL, hasLines: boolean): Promise<SourcePosition | null> {
  const { source, line, column, name, content } = original
  const file = await resolveSource(source, base)
  if (file === undefined) return null
  return {
    file,
    line: line + 1,
    column: column + 1,
    name,
    ...(hasLines && content !== null && selectLines(content, line)),
  }
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
