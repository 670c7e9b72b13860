/** `pino-ingest dev -- PROGRAM`: the program runs beside the service, and its end is the command's. */
import { systemClock } from '../../shared/clock.js'
import type { IngestService } from '../../service/index.js'
import { jsonLine, printable } from '../printable.js'
import { runProgram } from '../program.js'
import { onSignals } from '../signals.js'
import { programEnv } from './program-env.js'
import { settled } from './settled.js'
import { programText } from './words.js'

/** Who sends these wants all of it to end; a Ctrl-C ends the program, and what it logged may still be looked at. */
const FOR_ALL: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP']

/** @param started what `--json` tells of the service @returns the program's exit code */
export async function runBeside(program: readonly string[], service: IngestService, started: object | undefined): Promise<number> {
  const name = programText(program)
  const asJson = started !== undefined
  const say = (text: string): void => {
    if (!asJson) process.stderr.write(`pino-ingest dev: ${printable(text)}\n`)
  }
  const { env, overridden } = programEnv(process.env, service.url)
  if (asJson) process.stderr.write(jsonLine({ ...started, program, overridden }))

  let onCtrlC = (): void => {}
  let isAskedToEnd = false
  const askedToEnd = (): void => void (isAskedToEnd = true)
  for (const signal of FOR_ALL) process.once(signal, askedToEnd)
  // From the start, so that one Ctrl-C that comes twice under npx is not taken for the next.
  onSignals(() => onCtrlC())

  const arrivedBefore = service.arrived
  const running = runProgram(program, env)
  const endedAtOnce = await Promise.race([running, nextTurn()])
  if (endedAtOnce?.problem === undefined) {
    say(`what ${name} logs is shown at ${service.pageUrl}`)
    if (overridden.length > 0) say(`for ${name} this shell's ${overridden.join(', ')} ${overridden.length === 1 ? 'does' : 'do'} not count`)
  }
  const { exitCode, signal, problem } = await running
  const asked = new Promise<void>((resolve) => {
    onCtrlC = resolve
  })
  const isSettled = await Promise.race([settled({ origin: service.origin, requestsNow: () => service.requests }, systemClock), asked])
  if (isSettled === false) say('requests are still open, and are ended')

  const arrived = service.arrived - arrivedBefore
  if (asJson) process.stderr.write(jsonLine({ exit_code: exitCode, signal, arrived, ...(problem !== undefined && { message: problem }) }))
  const ending = problem ?? `${name} ended with ${signal ?? exitCode}, ${arrived} ${arrived === 1 ? 'entry' : 'entries'} arrived`
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
function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)))
}
