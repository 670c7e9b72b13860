/** Runs the built command line as a process. */
import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { cleanEnv } from '../process/run-app.js'

export const CLI = fileURLToPath(new URL('../../dist/cjs/cli.js', import.meta.url))

export interface CliResult {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

export interface RunningCli {
  readonly child: ChildProcessWithoutNullStreams
  /** Output on stdout and stderr so far. */
  readonly said: () => string
  readonly done: Promise<CliResult>
}

export type CliEnv = Record<string, string | undefined>

/** Needed by concurrent tests, whose global `onTestFinished` may belong to another test. */
type WhenFinished = (kill: () => void) => void

/** Killed at the end of the test. @param stdoutTo file descriptor, instead of a pipe that the test reads */
export function startCli(
  args: readonly string[],
  env: CliEnv = {},
  whenFinished: WhenFinished = onTestFinished,
  stdoutTo: 'pipe' | number = 'pipe',
): RunningCli {
  const stdio = ['pipe', stdoutTo, 'pipe'] as ['pipe', 'pipe', 'pipe']
  const child = spawn(process.execPath, [CLI, ...args], { env: cleanEnv(env), stdio })
  whenFinished(() => void child.kill('SIGKILL'))
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.on('error', () => {}) // a child that ends early is detected by its exit code
  const done = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      resolve({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
    )
  })
  return { child, said: () => Buffer.concat([...stdout, ...stderr]).toString(), done }
}

/** Runs it with `input` as stdin. */
export function runCli(
  args: readonly string[],
  env: CliEnv = {},
  input: string | Buffer = '',
  whenFinished?: WhenFinished,
): Promise<CliResult> {
  const { child, done } = startCli(args, env, whenFinished)
  child.stdin.end(input)
  return done
}
