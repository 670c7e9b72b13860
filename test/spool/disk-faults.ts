/** A disk that fails when it is told to: calls of `node:fs`, replaced for all who import it. */
import type fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'

const system = createRequire(import.meta.url)('node:fs') as typeof fs
type Call =
  | 'openSync'
  | 'readSync'
  | 'readdirSync'
  | 'lstatSync'
  | 'writeSync'
  | 'unlinkSync'
  | 'mkdirSync'
  | 'renameSync'
  | 'utimesSync'
/** @returns the code of the error, or undefined where the call goes through */
type Verdict = (given: readonly unknown[]) => string | undefined

/** @returns what mends it */
export function failing(call: Call, verdict: Verdict): () => void {
  const real = system[call] as (...given: unknown[]) => unknown
  const replace = (by: unknown): void => {
    Object.assign(system, { [call]: by })
    syncBuiltinESMExports()
  }
  replace((...given: unknown[]) => {
    const code = verdict(given)
    if (code !== undefined)
      throw Object.assign(new Error(`${code}: it was told to fail, ${call}`), { code, syscall: call })
    return real(...given)
  })
  return () => replace(real)
}

/** Each call writes at most so many bytes, as the system may. @returns what mends it */
export function shortWrites(most: number): () => void {
  const { writeSync } = system
  const short = (fd: number, bytes: Buffer, from = 0): number =>
    writeSync(fd, bytes, from, Math.min(most, bytes.length - from))
  Object.assign(system, { writeSync: short })
  syncBuiltinESMExports()
  return () => {
    Object.assign(system, { writeSync })
    syncBuiltinESMExports()
  }
}
