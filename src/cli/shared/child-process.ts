/** Signals, and programs that run as a child process with this process's stdin, stdout, stderr, signals and exit code. */
import { ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'

export interface ChildExit {
  /** As in a shell: 128 plus the signal's number if a signal ended the program (POSIX, Shell Command Language, 2.8.2). */
  readonly exitCode: number
  readonly signal: NodeJS.Signals | null
  readonly startFailure?: string
}

export type Environment = Readonly<Record<string, string | undefined>>

const SIGNAL_EXIT_CODE = 128
const NOT_FOUND_EXIT_CODE = 127
const NOT_EXECUTABLE_EXIT_CODE = 126

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']
/** Ctrl-C and Ctrl-\. A terminal sends them to all foreground processes, so the program has already received them. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']

/** Never rejects. */
export function runChildProcess(
  [name = '', ...args]: readonly string[],
  env: Environment = process.env,
): Promise<ChildExit> {
  return new Promise((resolve) => {
    const child = trySpawn(name, args, env)
    if (!(child instanceof ChildProcess)) return resolve(toStartFailure(name, child))
    const isInTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
    const listeners = SIGNALS.map(
      (signal) =>
        [
          signal,
          (): void => {
            if (!isInTerminal || !FROM_TERMINAL.includes(signal)) child.kill(signal)
          },
        ] as const,
    )
    for (const [signal, listener] of listeners) process.on(signal, listener)
    const end = (ended: ChildExit): void => {
      for (const [signal, listener] of listeners) process.off(signal, listener)
      resolve(ended)
    }
    child.on('error', (error: NodeJS.ErrnoException) => {
      // Also emitted if a signal cannot be forwarded.
      if (child.pid === undefined) end(toStartFailure(name, error))
    })
    child.once('exit', (code, signal) =>
      end({ exitCode: code ?? SIGNAL_EXIT_CODE + (signal === null ? 0 : constants.signals[signal]), signal }),
    )
  })
}

/** Some start errors are thrown, others are emitted as an event. */
function trySpawn(name: string, args: readonly string[], env: Environment): ChildProcess | NodeJS.ErrnoException {
  try {
    return spawn(name, args, { stdio: 'inherit', env })
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

/** @param platform default: that of this process */
export function toStartFailure(
  name: string,
  { code = 'unknown error' }: Pick<NodeJS.ErrnoException, 'code'>,
  platform = process.platform,
): ChildExit {
  // Only a shell starts scripts there, and npm is one.
  if (platform === 'win32' && (code === 'ENOENT' || code === 'EINVAL'))
    return {
      exitCode: NOT_FOUND_EXIT_CODE,
      signal: null,
      startFailure: `there is no program ${name} (${code}); if it is a script such as npm.cmd, run: cmd /c ${name}`,
    }
  return code === 'ENOENT'
    ? { exitCode: NOT_FOUND_EXIT_CODE, signal: null, startFailure: `${name} was not found` }
    : { exitCode: NOT_EXECUTABLE_EXIT_CODE, signal: null, startFailure: `${name} cannot be run (${code})` }
}

const TERMINATION = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Under npx one Ctrl-C arrives twice: from the terminal and forwarded by npm. */
const SAME_SIGNAL_MS = 300

/**
 * Handles the signals. They no longer end the process.
 * @param onSignal called with the number of signals so far
 * @returns a function that removes the handlers
 */
export function onTerminationSignal(onSignal: (times: number) => void): () => void {
  let times = 0
  let countedAt = -Infinity
  const listener = (): void => {
    const now = performance.now()
    if (now - countedAt < SAME_SIGNAL_MS) return
    countedAt = now
    times += 1
    onSignal(times)
  }
  for (const signal of TERMINATION) process.on(signal, listener)
  return () => {
    for (const signal of TERMINATION) process.off(signal, listener)
  }
}
