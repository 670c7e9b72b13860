/** `pino-ingest heartbeat`: pings a monitor, by itself or when a program has succeeded. */
import { readFileSync } from 'node:fs'
import { Pinger } from '../../app/heartbeats/pinger.js'
import { reportUnusedKey } from '../../client/key-warning.js'
import { systemClock } from '../../shared/clock.js'
import { CommandError, EXIT_DONE, EXIT_USAGE, createUsageError } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { OPTION_FLAGS, parseOptionFlags } from '../shared/option-flags.js'
import { formatJsonLine, printable } from '../shared/printable.js'
import { runChildProcess } from '../shared/child-process.js'

const TOKEN_VARIABLE = 'PINO_INGEST_MONITOR_TOKEN'
const FILE_VARIABLE = 'PINO_INGEST_MONITOR_TOKEN_FILE'

/** @param words the token, where it is no variable's @param program behind `--` @throws CommandError */
export async function createHeartbeatCommand(
  words: readonly string[],
  isHelp: boolean,
  program?: readonly string[],
): Promise<Command> {
  // Not shown: either of them may be the token.
  if (words.length > 1)
    throw createUsageError(
      'heartbeat takes one TOKEN; a program goes behind --, as in: pino-ingest heartbeat TOKEN -- npm run backup',
    )
  if (!isHelp && program !== undefined && (program[0] ?? '') === '')
    throw createUsageError('heartbeat has no program behind --')
  return {
    summary: 'Pings a monitor: at once, or when the program behind -- has succeeded.',
    usage: ['pino-ingest heartbeat [TOKEN] [FLAGS]', 'pino-ingest heartbeat [TOKEN] [FLAGS] -- PROGRAM [ARGUMENTS]'],
    flags: { url: OPTION_FLAGS.url },
    notes: [
      `Process lists show arguments: better than as TOKEN it comes from ${TOKEN_VARIABLE}, or from the file that ${FILE_VARIABLE} names.
No key is needed. Every option can be set by its variable; a flag wins over it.`,
      `The program has this terminal's stdin, stdout and stderr, gets the signals that come here, and gives its exit code: 128 and the
signal's number where a signal ended it, 127 where it is not found, 126 where it cannot be run. It is pinged once, and only when
the code is 0. A ping that fails is told on stderr and does not change the code; it takes 30 s at most.`,
      'With --json one line says what was done: {"pinged": true}; with a program on stderr, and with its "exit_code" and "signal".',
      "Exit codes: the program's. Without one 0 pinged, 1 not pinged. 2 wrong flags or configuration, before the program is begun.",
    ],
    jsonFailuresTo: program === undefined ? 'stdout' : 'stderr',
    run: (given) => run(words[0], given, program),
  }
}

async function run(
  word: string | undefined,
  given: Arguments,
  program: readonly string[] | undefined,
): Promise<number> {
  const pinger = new Pinger(word ?? readMonitorToken(), parseOptionFlags(given), systemClock)
  const isJsonOnStderr = program !== undefined && given.switches.has('json')
  if (!isJsonOnStderr) reportUnusedKey(pinger)
  try {
    if (program !== undefined) return await runThenPing(program, pinger, isJsonOnStderr)
    await pinger.ping()
    process.stdout.write(given.switches.has('json') ? formatJsonLine({ pinged: true }) : 'Pinged.\n')
    return EXIT_DONE
  } finally {
    await pinger.close()
  }
}

async function runThenPing(program: readonly string[], pinger: Pinger, asJson: boolean): Promise<number> {
  const { exitCode, signal, startFailure: problem } = await runChildProcess(program)
  if (problem !== undefined && !asJson) say(problem)
  let failure: string | undefined
  if (exitCode === EXIT_DONE) {
    failure = await pinger.ping().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    if (failure !== undefined && !asJson) say(`the program succeeded, but the heartbeat failed: ${failure}`)
  }
  const message = problem ?? failure
  const { keyWarning: warning } = pinger
  if (asJson)
    process.stderr.write(
      formatJsonLine({
        pinged: exitCode === EXIT_DONE && failure === undefined,
        exit_code: exitCode,
        signal,
        ...(message !== undefined && { message }),
        ...(warning !== undefined && { warning }),
      }),
    )
  return exitCode
}

function say(text: string): void {
  process.stderr.write(`pino-ingest: ${printable(text)}\n`)
}

function readMonitorToken(): string {
  const { [TOKEN_VARIABLE]: token, [FILE_VARIABLE]: file } = process.env
  if (token !== undefined && token !== '') return token.trim()
  if (file === undefined || file === '')
    throw createUsageError(`heartbeat needs a token: set ${TOKEN_VARIABLE} or ${FILE_VARIABLE}, or give it as TOKEN`)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    // Without its path: what stands for the file may be the token itself.
    throw new CommandError(
      'CONFIG',
      `${FILE_VARIABLE} names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
      EXIT_USAGE,
    )
  }
}
