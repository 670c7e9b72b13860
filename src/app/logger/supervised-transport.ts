/** [main] Connects a transport of `ingestOptions()` with the supervisor of its worker. */
import { isAbsolute } from 'node:path'
import type { LoggerOptions, TransportMultiOptions, TransportPipelineOptions, TransportSingleOptions } from 'pino'
import { writeToStderr } from '../../diagnostics/reporter.js'
import { createSecretMask } from '../../diagnostics/secret-mask.js'
import { passStartToWorkers } from '../../options/app-package.js'
import type { Settings } from '../../options/settings.js'
import { PINO_LEVELS } from '../../record/coerce.js'
import { CONTROL_CHARACTERS } from '../../shared/control-characters.js'
import type { LogCall } from './log-method.js'
import { findLoggerStreams, isWorkerStream, keepWorkersReachable } from './logger-streams.js'
import { findOwnPath, requirePino } from './own-path.js'
import { readPinoProperty } from './pino-symbols.js'
import { superviseWorker, takeNextWorker } from './worker-supervisor.js'
import type { ThreadStream } from './worker-supervisor.js'

export type AppTransport = TransportSingleOptions | TransportMultiOptions | TransportPipelineOptions

/** The options of pino on which its worker depends. */
const WORKER_OPTIONS = ['level', 'customLevels', 'useOnlyCustomLevels', 'messageKey', 'errorKey'] as const
export type WorkerOptions = Pick<LoggerOptions, (typeof WORKER_OPTIONS)[number]>
const DEFAULT_LEVEL = 30

/**
 * @param isOurs whether a target is this package
 * @returns the same transport; the worker that pino starts with it is supervised
 */
export function superviseTransport(
  transport: AppTransport,
  own: WorkerOptions,
  call: LogCall,
  settings: Pick<Settings, 'enabled' | 'logTo' | 'secrets'> | undefined,
  isOurs: (target: unknown) => boolean,
): AppTransport {
  const mask = createSecretMask((settings?.secrets ?? []).map((secret) => secret.reveal()))
  const thresholds = settings?.enabled === false ? [] : findThresholds(transport, own.customLevels, isOurs)
  const folder = process.cwd()
  const caller = [process.argv[1] ?? '', findOwnPath() ?? ''].filter(isAbsolute)
  const start = (): object => {
    const given = Object.fromEntries(
      WORKER_OPTIONS.filter((name) => own[name] !== undefined).map((name) => [name, own[name]]),
    )
    passStartToWorkers(folder)
    // pino would look for other targets from the files that call it, which are those of this package.
    return readPinoProperty(
      requirePino()({ ...given, transport: Object.assign({ caller }, transport) }),
      'pino.stream',
    ) as object
  }
  const supervise = (stream: ThreadStream): void =>
    superviseWorker(stream, {
      start,
      countReceivers: thresholds && (() => thresholds.filter((threshold) => call.level >= threshold).length),
      report: (message) => {
        if (settings?.logTo !== 'silent')
          writeToStderr(`pino-ingest: ${mask(message).replace(CONTROL_CHARACTERS, ' ')}\n`)
      },
    })
  // The first records may be logged in the turn in which pino starts the worker.
  call.onNewStream = (logger) => {
    keepWorkersReachable(logger)
    for (const stream of findLoggerStreams(logger)) if (isWorkerStream(stream)) supervise(stream as ThreadStream)
  }
  return {
    ...transport,
    worker: {
      ...transport.worker,
      // thread-stream reads the worker's options when it starts the worker.
      get name() {
        takeNextWorker(supervise)
        return transport.worker?.name
      },
    },
  }
}

/** The lowest level of each target of this package. Undefined if another transport may change or remove records. */
function findThresholds(
  transport: AppTransport,
  customLevels: LoggerOptions['customLevels'],
  isOurs: (target: unknown) => boolean,
): readonly number[] | undefined {
  if ('target' in transport) return [0]
  const { targets = [], dedupe } = transport as TransportMultiOptions
  if ('pipeline' in transport || dedupe === true || targets.some((one) => 'pipeline' in one)) return undefined
  const numbers: Record<string, number> = {
    ...Object.fromEntries(Object.entries(PINO_LEVELS).map(([number, label]) => [label, Number(number)])),
    ...customLevels,
  }
  return (targets as readonly { readonly target: string; readonly level?: string | number }[])
    .filter(({ target }) => isOurs(target))
    .map(({ level }) => (typeof level === 'string' ? (numbers[level] ?? DEFAULT_LEVEL) : (level ?? 0)))
}
