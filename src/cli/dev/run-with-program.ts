/** `pino-ingest dev -- PROGRAM`: runs the program as a child process and ends with it. */
import { request } from 'node:http'
import { listAllVariables } from '../../options/option-table.js'
import type { OptionName } from '../../options/option-table.js'
import type { IngestService } from '../../service/index.js'
import { systemClock } from '../../shared/clock.js'
import { pause } from '../../shared/pause.js'
import { DEFAULT_PORT } from '../local/local-service.js'
import type { Environment } from '../shared/child-process.js'
import { formatEntryCount, formatJsonLine, toPrintable } from '../shared/terminal.js'
import { onTerminationSignal, runChildProcess } from '../shared/child-process.js'
import { formatProgram } from './dev-format.js'

/** These signals end the whole command. Ctrl-C ends only the program; the page stays open. */
const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP']

/** @param started the service's data with `--json`, otherwise undefined @returns the program's exit code */
export async function runWithProgram(
  program: readonly string[],
  service: IngestService,
  started: object | undefined,
): Promise<number> {
  const name = formatProgram(program)
  const asJson = started !== undefined
  const print = (text: string): void => {
    if (!asJson) process.stderr.write(`pino-ingest dev: ${toPrintable(text)}\n`)
  }
  const { env, overridden } = createProgramEnv(process.env, service.url)
  if (asJson) process.stderr.write(formatJsonLine({ ...started, program, overridden }))

  let onCtrlC = (): void => {}
  let isEnding = false
  const onEndingSignal = (): void => void (isEnding = true)
  for (const signal of ENDING_SIGNALS) process.once(signal, onEndingSignal)
  // Registered early: under npx one Ctrl-C arrives twice, and the second must not count as another Ctrl-C.
  onTerminationSignal(() => onCtrlC())

  const arrivedBefore = service.arrived
  const running = runChildProcess(program, env)
  const endedAtOnce = await Promise.race([running, waitForImmediate()])
  if (endedAtOnce?.startFailure === undefined) {
    print(`entries of ${name} are shown at`)
    if (!asJson) process.stderr.write(`${service.pageUrl}\n`)
    if (service.port !== DEFAULT_PORT) print(`read them with npx pino-ingest query --url ${service.origin}`)
    if (overridden.length > 0) print(`overrides these variables for ${name}: ${overridden.join(', ')}`)
  }
  const { exitCode, signal, startFailure: failure } = await running
  const interrupted = new Promise<void>((resolve) => {
    onCtrlC = resolve
  })
  const isIdle = await Promise.race([waitUntilIdle(service), interrupted])
  if (isIdle === false) print('aborts requests that are still open after 5 s')

  const arrived = service.arrived - arrivedBefore
  if (asJson)
    process.stderr.write(
      formatJsonLine({ exit_code: exitCode, signal, arrived, ...(failure !== undefined && { message: failure }) }),
    )
  const ending = failure ?? `${name} ended with ${signal ?? exitCode}, ${formatEntryCount(arrived)} arrived`
  const isWatched = process.stdin.isTTY && process.stderr.isTTY && !asJson && failure === undefined
  if (!isWatched || isEnding) {
    print(ending)
    return exitCode
  }
  print(`${ending}; the page stays open until Ctrl-C`)
  await interrupted
  return exitCode
}

/** Node reports a failed start in the same turn of the event loop. */
function waitForImmediate(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)))
}

/** Options of the real service. Its keys, headers, proxy and queue must not be used here, and its certificates may be missing. */
const EMPTIED: readonly OptionName[] = ['apiKey', 'previousApiKeys', 'tls', 'proxy', 'headers', 'nats']

interface ProgramEnv {
  readonly env: Environment
  readonly overridden: readonly string[]
}

/** The environment in which a program sends to the local service, regardless of the shell and `.env` files. Pure. */
export function createProgramEnv(shell: Environment, url: string): ProgramEnv {
  // Entries on disk would belong to a service that ends with the program, so there is no spool unless one is set.
  const isSpoolGiven = listAllVariables('spool').some((name) => (shell[name] ?? '') !== '')
  const local: Readonly<Record<string, string>> = {
    // Empty instead of deleted, since an `.env` file sets missing variables.
    ...Object.fromEntries(EMPTIED.flatMap(listAllVariables).map((name) => [name, ''])),
    PINO_INGEST_URL: url,
    PINO_INGEST_API_KEY: 'local',
    PINO_INGEST_ENABLED: 'true',
    ...(!isSpoolGiven && { PINO_INGEST_SPOOL: 'false' }),
  }
  const overridden = Object.entries(local)
    .filter(([name, value]) => ![value, undefined, ''].includes(shell[name]))
    .map(([name]) => name)
  return { env: { ...shell, ...local }, overridden }
}

/** A scripted fault may leave a request open forever. */
const MAX_WAIT_MS = 5_000
const POLL_MS = 10

/**
 * Waits until all requests of an ended program are handled. The service accepts connections in order, so a reply on a new connection
 * shows that all earlier connections were accepted.
 * @returns false if requests are still open after 5 s
 */
async function waitUntilIdle(service: IngestService): Promise<boolean> {
  const endMs = systemClock.now() + MAX_WAIT_MS
  for (let seen = -1; systemClock.now() < endMs;) {
    await roundTrip(service.origin)
    const calls = service.requests
    const isIdle = calls.every(({ endedAt }) => endedAt !== null)
    if (isIdle && calls.length === seen) return true
    seen = calls.length
    if (!isIdle) await pause(systemClock, POLL_MS)
  }
  return false
}

/** Without a token the service replies 401, which is sufficient. */
function roundTrip(origin: string): Promise<void> {
  return new Promise((resolve) => {
    request(`${origin}/local/status`, { method: 'HEAD', agent: false, timeout: MAX_WAIT_MS }, (response) =>
      response.resume().once('close', resolve),
    )
      .on('timeout', () => resolve())
      .on('error', () => resolve())
      .end()
  })
}
