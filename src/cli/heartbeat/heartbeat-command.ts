/** `pino-ingest heartbeat`: pings a monitor, immediately or when a program has succeeded. */
import { basename } from 'node:path'
import { Pinger } from '../../app/heartbeats/pinger.js'
import { MONITOR_TOKEN_FILE_VARIABLE, MONITOR_TOKEN_VARIABLE } from '../../options/known-variables.js'
import { systemClock } from '../../shared/clock.js'
import { containsSecret } from '../../shared/contained-secret.js'
import { describeReadError, readRegularFile } from '../../shared/safe-files.js'
import { runChildProcess } from '../shared/child-process.js'
import { CommandError, createUsageError, EXIT_DONE, EXIT_USAGE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { OPTION_FLAGS, parseOptionFlags } from '../shared/option-flags.js'
import { formatJsonLine, toPrintable } from '../shared/terminal.js'
import { toMessage } from '../../shared/errors.js'

export const heartbeatCommand: Command = {
  examples: [
    ['npx pino-ingest heartbeat', 'pings the monitor of PINO_INGEST_MONITOR_TOKEN'],
    ['npx pino-ingest heartbeat -- npm run build', 'pings it if the program succeeds'],
  ],
  usage: ['pino-ingest heartbeat [FLAGS]', 'pino-ingest heartbeat [FLAGS] -- PROGRAM [ARGUMENTS]'],
  flags: {
    name: { value: 'NAME', meaning: "name of the monitor on the page of the local service (the program's file name)" },
    url: OPTION_FLAGS.url,
  },
  notes: [
    `${MONITOR_TOKEN_VARIABLE} sets the token, or ${MONITOR_TOKEN_FILE_VARIABLE} a file that contains it. No key is needed.`,
    `The program shares this terminal, receives the signals sent to this command, and sets the exit code. The monitor is pinged once,
only after exit code 0, within 30 s. If it is not, a line on stderr says why, and the exit code stays the program's.`,
    'With --json, it prints {"pinged": true}; with a program, it does so on stderr and adds "exit_code" and "signal".',
    "Exit codes: with a program, the program's; otherwise 0 pinged, 1 not pinged. 2 invalid flags or configuration; the program is not started.",
  ],
  takesProgram: true,
  argumentAdvice: `set ${MONITOR_TOKEN_VARIABLE} to the token, and put a program after --`,
  run,
}

const NO_URL = 'nothing was pinged, since no URL is set: set PINO_INGEST_URL'

async function run(given: Arguments): Promise<number> {
  const { program } = given
  const asJson = given.switches.has('json')
  const pinger = createPinger(readMonitorToken(), given)
  try {
    if (program !== undefined) return await runThenPing(program, pinger, asJson)
    if (!(await pinger.ping())) throw new CommandError('CONFIG', NO_URL, EXIT_USAGE)
    process.stdout.write(asJson ? formatJsonLine({ pinged: true }) : 'Pinged.\n')
    return EXIT_DONE
  } finally {
    await pinger.close()
  }
}

function createPinger(token: string, given: Arguments): Pinger {
  const program = basename(given.program?.[0] ?? '')
  const name =
    given.texts.get('name') ?? (program === '' || containsSecret(program, token) ? undefined : program.slice(0, 100))
  return new Pinger(token, { ...parseOptionFlags(given), name }, systemClock)
}

async function runThenPing(program: readonly string[], pinger: Pinger, asJson: boolean): Promise<number> {
  const { exitCode, signal, startFailure } = await runChildProcess(program)
  const failure =
    startFailure ??
    (exitCode === EXIT_DONE ? await tryPing(pinger) : `not pinged: ${signal ?? `exit code ${exitCode}`}`)
  if (asJson) {
    const note = failure !== undefined && { message: failure }
    process.stderr.write(formatJsonLine({ pinged: failure === undefined, exit_code: exitCode, signal, ...note }))
  } else if (failure !== undefined) process.stderr.write(`pino-ingest: ${toPrintable(failure)}\n`)
  return exitCode
}

/** @returns why it failed */
async function tryPing(pinger: Pinger): Promise<string | undefined> {
  try {
    return (await pinger.ping()) ? undefined : NO_URL
  } catch (error) {
    return `the program succeeded, but the heartbeat failed: ${toMessage(error)}`
  }
}

function readMonitorToken(): string {
  const { [MONITOR_TOKEN_VARIABLE]: token, [MONITOR_TOKEN_FILE_VARIABLE]: file } = process.env
  if (token !== undefined && token !== '') return token.trim()
  if (file === undefined || file === '') {
    throw createUsageError(`heartbeat needs a token: set ${MONITOR_TOKEN_VARIABLE} or ${MONITOR_TOKEN_FILE_VARIABLE}`)
  }
  try {
    return readRegularFile(file).trim()
  } catch (error) {
    // The path is not shown: it may be the token, set in the wrong variable.
    throw new CommandError(
      'CONFIG',
      `cannot read the file in ${MONITOR_TOKEN_FILE_VARIABLE} (${describeReadError(error)})`,
      EXIT_USAGE,
    )
  }
}
