/** Runs the command line in this process, from the sources: much faster than a process for each command. */
import type { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { runCommandLine } from '../../src/cli/run-command-line.js'
import { cleanEnv } from '../process/run-app.js'
import type { CliEnv } from './run-cli.js'

/** Listeners that a command adds. In a process of its own they would end with it. */
const LISTENED: readonly (readonly [EventEmitter, string])[] = [
  [process.stdout, 'error'],
  ...['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [process, signal] as const),
]

export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface RunningCommand {
  /** Output on stdout and stderr so far. */
  readonly said: () => string
  readonly done: Promise<CommandResult>
}

/** Runs it with `input` as stdin. Only one command runs at a time. */
export function runInProcess(
  args: readonly string[],
  env: CliEnv = {},
  input: string | Buffer = '',
): Promise<CommandResult> {
  return startInProcess(args, env, input).done
}

/** A `write()` that passes on the text. */
const collect = (add: (text: string) => void) => (text: string, done?: () => void) => {
  add(text)
  done?.()
  return true
}

/** `process.emit(signal)` signals it. */
export function startInProcess(
  args: readonly string[],
  env: CliEnv = {},
  input: string | Buffer | PassThrough = '',
): RunningCommand {
  const { env: realEnv } = process
  const realStdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {}
  const [writeOut, writeErr] = [process.stdout.write, process.stderr.write]
  const stdin = input instanceof PassThrough ? input : new PassThrough().end(input)
  let out = ''
  let err = ''
  process.env = cleanEnv(env)
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
  process.stdout.write = collect((text) => (out += text)) as typeof process.stdout.write
  process.stderr.write = collect((text) => (err += text)) as typeof process.stderr.write
  const earlier = LISTENED.map(([emitter, event]) => emitter.rawListeners(event))
  const done = runCommandLine(args)
    .finally(() => {
      process.env = realEnv
      Object.defineProperty(process, 'stdin', realStdin)
      process.stdout.write = writeOut
      process.stderr.write = writeErr
      for (const [at, [emitter, event]] of LISTENED.entries())
        for (const one of emitter.rawListeners(event))
          if (!earlier[at]?.includes(one)) emitter.off(event, one as () => void)
    })
    .then((code) => ({ code, out, err }))
  return { said: () => out + err, done }
}
