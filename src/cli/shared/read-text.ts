/** Reads text from stdin or from a file named by a flag. */
import { readFileSync } from 'node:fs'
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
    return readFileSync(path, 'utf8').trimEnd()
  } catch (error) {
    throw createUsageError(
      `cannot read the file in --${flag}: ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
    )
  }
}
