/** Reads text from stdin or from a file named by a flag. */
import { describeReadError, readRegularFile } from '../../shared/safe-files.js'
import { createUsageError } from './command.js'

/** All of stdin, for `-`. */
export async function readStdinText(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8').trimEnd()
}

/** Rejects with CommandError if the file cannot be read. */
export async function readTextFile(path: string, flag: string): Promise<string> {
  if (path === '-') return readStdinText()
  try {
    return readRegularFile(path).trimEnd()
  } catch (error) {
    throw createUsageError(`cannot read the file in --${flag}: ${path} (${describeReadError(error)})`)
  }
}
