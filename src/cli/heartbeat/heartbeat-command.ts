/** `pino-ingest heartbeat`: pings a monitor, immediately or when a program has succeeded. */
import { basename } from 'node:path'
import { Pinger } from '../../app/heartbeats/pinger.js'
import { reportUnusedKey } from '../../client/key-warning.js'
import { MONITOR_TOKEN_FILE_VARIABLE, MONITOR_TOKEN_VARIABLE } from '../../options/known-variables.js'
import { systemClock } from '../../shared/clock.js'
import { containsSecret } from '../../shared/contained-secret.js'
import { describeReadError, readRegularFile } from '../../shared/safe-files.js'
import { runChildProcess } from '../shared/child-process.js'
import { CommandError, createUsageError, EXIT_DONE, EXIT_USAGE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { OPTION_FLAGS, parseOptionFlags } from '../shared/option-flags.js'
import { formatJsonLine, toPrintable } from '../shared/terminal.js'

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
only after exit code 0, within 30 s. A failed ping is reported on stderr and does not change the exit code.`,
    'With --json, it prints {"pinged": true}; with a program, it does so on stderr and adds "exit_code" and "signal".',
    "Exit codes: with a program, the program's; otherwise 0 pinged, 1 not pinged. 2 invalid flags or configuration; the program is not started.",
  ],
  takesProgram: true,
  argumentAdvice: `set ${MONITOR_TOKEN_VARIABLE} to the token, and put a program after --`,
  run,
}

async function run(given: Arguments): Promise<number> {
  const { program } = given
  const asJson = given.switches.has('json')
  const pinger = createPinger(readMonitorToken(), given)
  if (program === undefined || !asJson) reportUnusedKey(pinger)
  try {
    if (program !== undefined) return await runThenPing(program, pinger, asJson)
    await pinger.ping()
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
  let failure = startFailure
  if (exitCode === EXIT_DONE) {
    await pinger.ping().catch((error: unknown) => {
      failure = `the program succeeded, but the heartbeat failed: ${error instanceof Error ? error.message : String(error)}`
    })
  }
  const { keyWarning: warning } = pinger
  if (asJson) {
    const pinged = exitCode === EXIT_DONE && failure === undefined
    const notes = { ...(failure !== undefined && { message: failure }), ...(warning !== undefined && { warning }) }
    process.stderr.write(formatJsonLine({ pinged, exit_code: exitCode, signal, ...notes }))
  } else if (failure !== undefined) process.stderr.write(`pino-ingest: ${toPrintable(failure)}\n`)
  return exitCode
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
