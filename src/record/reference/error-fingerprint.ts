/** The fingerprint of an error: a hash of its type, its message without variable parts, and the file of its top frame. */
import { createHash } from 'node:crypto'
import type { EntryError } from '../../protocol/log-entry.js'
import { findTopFrame } from './entry-error.js'
import { copyString } from '../string-copy.js'

/** Enough to distinguish messages; the rest is mostly data. */
const MESSAGE_CHARS = 500

const VARIABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, '<id>'],
  [/"[^"]*"|'[^']*'/g, '<text>'],
  [/\d+/g, '<n>'],
]

/** A folder that each release has anew, after any name: a version, a time, a commit or a UUID. */
const RELEASE =
  /^(?:.*[-_.@])?(?:v?\d+\.\d+\.\d+.*|\d{8,17}(?:[-_T]\d{4,6}Z?)?|\d{4}-\d\d-\d\d.*|(?=[a-f]*\d)[\da-f]{7,64}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i
/** Below this folder, any folder with a digit is a release. */
const RELEASES = /^(?:releases|deploys|deployments|builds|revisions)$/i
/** Usual folders of an application, for a process that was started in another one. */
const ROOT =
  /^\/(?:app|code|workspace|usr\/(?:src\/)?app|var\/task|(?:opt|srv|root|var\/www|home\/[^/]+|Users\/[^/]+)\/[^/]+)\//
/** The hash that a bundler puts into the name of a file: hexadecimal, or 8 characters of base32 or base64url. */
const FILE_HASH = /(?:^|[._-])(?=[a-f]*\d)[\da-f]{6,64}(?=\.)|[._-](?=[\w-]*\d|(?:[\w-]*[A-Z]){2})[\w-]{8}(?=\.)/g

/** Errors repeat: the replacements and the hash take 5 us, a look-up less than 1 us. */
const MAX_KNOWN = 256
/** Longer texts are not cached, which limits the cache to 1 MiB. */
const MAX_KNOWN_CHARS = 2_000
const known = new Map<string, string>()
const workingFolder = `${findWorkingFolder()}/`

/**
 * 32 hexadecimal digits. Excludes line, column and the folder of the application, so a deploy does not change the
 * fingerprint of every error.
 */
export function computeErrorFingerprint(error: EntryError): string {
  return createFingerprint(error.type ?? '', error.message ?? '', findTopFrame(error) ?? '')
}

/** @param location of the top frame; '' if there is none */
export function createFingerprint(type: string, message: string, location: string): string {
  const start = message.slice(0, MESSAGE_CHARS)
  const file = location.replace(/:\d+:\d+$/, '')
  const text = JSON.stringify([type, start, file])
  const found = known.get(text)
  if (found !== undefined) return found
  const fingerprint = hash(type, start, file)
  if (text.length > MAX_KNOWN_CHARS) return fingerprint
  if (known.size === MAX_KNOWN) known.clear()
  known.set(copyString(text), fingerprint)
  return fingerprint
}

function hash(type: string, message: string, file: string): string {
  let normal = message
  for (const [part, name] of VARIABLE_PARTS) normal = normal.replace(part, name)
  return createHash('sha256')
    .update([type, normal, toModulePath(file)].join('\n'))
    .digest('hex')
    .slice(0, 32)
}

/** The path of a module within its application, without the hashes of a bundler. */
function toModulePath(file: string): string {
  const path = toPlainPath(file)
  const folders = path.split('/')
  const name = (folders.pop() as string).replace(FILE_HASH, '.<id>')
  const release = folders.findLastIndex(
    (folder, at) => RELEASE.test(folder) || (/\d/.test(folder) && RELEASES.test(folders[at - 1] ?? '')),
  )
  const folder = `${folders.slice(release + 1).join('/')}/`
  if (release !== -1) return folder + name
  const isBelow = folder.startsWith(workingFolder)
  const inside = isBelow ? folder.slice(workingFolder.length) : folder.replace(ROOT, '')
  return inside.replace(/^\/+/, '') + name
}

/** The path of a URL or of a file on Windows, with slashes and without drive, host and query. */
function toPlainPath(file: string): string {
  return file
    .replaceAll('\\', '/')
    .replace(/^[a-z][a-z\d+.-]+:\/\/[^/]*/i, '')
    .replace(/^\/?[a-z]:(?=\/)/i, '')
    .replace(/\?.*$/, '')
    .replaceAll('/./', '/')
}

/** '/' if it was deleted. */
function findWorkingFolder(): string {
  try {
    return toPlainPath(process.cwd())
  } catch {
    return '/'
  }
}
