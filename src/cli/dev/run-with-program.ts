/** `pino-ingest dev -- PROGRAM`: the program runs beside the service, and its end is the command's. */
import { systemClock } from '../../shared/clock.js'
import type { IngestService } from '../../service/index.js'
import { formatJsonLine, printable } from '../shared/printable.js'
import { runChildProcess } from '../shared/child-process.js'
import { onTerminationSignal } from '../shared/termination-signals.js'
import { createProgramEnv } from './program-env.js'
import { waitUntilIdle } from './wait-until-idle.js'
import { formatProgram } from './dev-format.js'

/** Who sends these wants all of it to end; a Ctrl-C ends the program, and what it logged may still be looked at. */
const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP']

/** @param started what `--json` tells of the service @returns the program's exit code */
export async function runWithProgram(
  program: readonly string[],
  service: IngestService,
  started: object | undefined,
): Promise<number> {
  const name = formatProgram(program)
  const asJson = started !== undefined
  const say = (text: string): void => {
    if (!asJson) process.stderr.write(`pino-ingest dev: ${printable(text)}\n`)
  }
  const { env, overridden } = createProgramEnv(process.env, service.url)
  if (asJson) process.stderr.write(formatJsonLine({ ...started, program, overridden }))

  let onCtrlC = (): void => {}
  let isAskedToEnd = false
  const askedToEnd = (): void => void (isAskedToEnd = true)
  for (const signal of ENDING_SIGNALS) process.once(signal, askedToEnd)
  // From the start, so that one Ctrl-C that comes twice under npx is not taken for the next.
  onTerminationSignal(() => onCtrlC())

  const arrivedBefore = service.arrived
  const running = runChildProcess(program, env)
  const endedAtOnce = await Promise.race([running, waitForImmediate()])
  if (endedAtOnce?.startFailure === undefined) {
    say(`what ${name} logs is shown at ${service.pageUrl}`)
    if (overridden.length > 0)
      say(`for ${name} this shell's ${overridden.join(', ')} ${overridden.length === 1 ? 'does' : 'do'} not count`)
  }
  const { exitCode, signal, startFailure: problem } = await running
  const asked = new Promise<void>((resolve) => {
    onCtrlC = resolve
  })
  const isSettled = await Promise.race([
    waitUntilIdle({ origin: service.origin, requestsNow: () => service.requests }, systemClock),
    asked,
  ])
  if (isSettled === false) say('requests are still open, and are ended')

  const arrived = service.arrived - arrivedBefore
  if (asJson)
    process.stderr.write(
      formatJsonLine({ exit_code: exitCode, signal, arrived, ...(problem !== undefined && { message: problem }) }),
    )
  const ending =
    problem ?? `${name} ended with ${signal ?? exitCode}, ${arrived} ${arrived === 1 ? 'entry' : 'entries'} arrived`
  const isWatched = process.stdin.isTTY && process.stderr.isTTY && !asJson && problem === undefined
  if (!isWatched || isAskedToEnd) {
    say(ending)
    return exitCode
  }
  say(`${ending}; the page stays until Ctrl-C: ${service.pageUrl}`)
  await asked
  return exitCode
}

/** Node tells within the same turn why a program is not run. */
function waitForImmediate(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)))
}
