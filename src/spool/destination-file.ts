/** The file in a destination's folder that says where its entries are sent, for the command line: the folder's name is a hash. */
import { closeSync, constants, ftruncateSync } from 'node:fs'
import { join } from 'node:path'
import { createSecretMask, maskDeep } from '../diagnostics/secret-mask.js'
import { openOwn, readAtMost, writeAll } from '../shared/safe-files.js'
import { DESTINATION } from './disk-format.js'

export interface DestinationDescription {
  /** Without user info, query and fragment. */
  readonly url: string
  /** Service of the process that started last. Several services may share a key. */
  readonly service?: string | undefined
}

const MAX_BYTES = 16 * 1024

/** Contains no key, even if the URL or the name of the service does. Pure. */
export function describeDestination(
  { url, service }: DestinationDescription,
  keys: readonly string[],
): DestinationDescription {
  // Not parsed as a URL, since the destination of `nats` may have several hosts.
  const address = url.replace(/:\/\/[^/]*@/, '://').replace(/[?#].*$/s, '')
  return maskDeep({ url: address, service }, createSecretMask(keys))
}

/** Never throws: the spool works without the file, and the command line then shows the folder's name. */
export function writeDescription(destination: string, description: DestinationDescription): void {
  try {
    const fd = openOwn(join(destination, DESTINATION), constants.O_WRONLY | constants.O_CREAT)
    try {
      const bytes = Buffer.from(`${JSON.stringify(description)}\n`)
      // Overwritten in place, which needs no space on a full disk. After a kill in between, or if two services start at
      // the same time, the file may be unreadable until the next start.
      writeAll(fd, bytes)
      ftruncateSync(fd, bytes.length)
    } finally {
      closeSync(fd)
    }
  } catch {
    // A disk that cannot be written to is reported when entries are written.
  }
}

/** Undefined if the file is missing or unreadable. Never throws. */
export function readDescription(destination: string): DestinationDescription | undefined {
  try {
    const fd = openOwn(join(destination, DESTINATION), constants.O_RDONLY)
    try {
      const text = readAtMost(fd, MAX_BYTES)?.toString() ?? ''
      const { url, service } = Object(JSON.parse(text)) as Record<keyof DestinationDescription, unknown>
      if (typeof url !== 'string') return undefined
      return { url, service: typeof service === 'string' ? service : undefined }
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}
