/** Text that a flag names instead of holding it. */
import { readFileSync } from 'node:fs'
import { usageError } from './command.js'

/** All of stdin, for `-`. */
export async function stdinText(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8').trimEnd()
}

/** @throws CommandError where the file cannot be read */
export async function textOfFile(path: string, flag: string): Promise<string> {
  if (path === '-') return stdinText()
  try {
    return readFileSync(path, 'utf8').trimEnd()
  } catch (error) {
    throw usageError(`--${flag} names a file that cannot be read: ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`)
  }
}
