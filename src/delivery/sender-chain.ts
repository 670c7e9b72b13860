/** The chain that every sender of batches uses: the transport, `send`, `spool replay` and the forwarder. */
import type { Sender } from '../batch/sender.js'
import { createDebugLog } from '../diagnostics/debug-log.js'
import type { Settings } from '../options/settings.js'
import { createDebugSenders } from './debug-senders.js'
import type { EndpointTarget } from './destination-types.js'
import { createGzipSender } from './gzip-sender.js'
import { createIsolationSender } from './isolation/isolation-sender.js'
import type { IsolationOptions } from './isolation/isolation-sender.js'
import type { CircuitBreaker } from './retry/circuit-breaker.js'
import { VERSION } from '../version.js'
import { createRetrySender } from './retry/retry-sender.js'

export interface SenderChainOptions extends Omit<IsolationOptions, 'inner' | 'breaker'> {
  readonly settings: Pick<Settings, 'compression' | 'isDebug'>
  readonly target: EndpointTarget
  readonly breaker: CircuitBreaker
  /** Wraps the sender of single attempts. */
  readonly observeAttempts?: (inner: Sender) => Sender
  /** Wraps the sender of batches and sub-batches, with all their attempts. */
  readonly observeBatches?: (inner: Sender) => Sender
}

/** Isolates rejected entries, converts and compresses the body, retries, sends. Its outcomes are `delivered` or `abandoned`. */
export function createSenderChain({
  settings,
  target: { sender, encode = unchanged },
  observeAttempts = unchanged,
  observeBatches = unchanged,
  ...isolation
}: SenderChainOptions): Sender {
  const log = createDebugLog(settings.isDebug, isolation.mask)
  log?.(`pino-ingest ${VERSION}, Node ${process.versions.node}`)
  const debug = log && createDebugSenders(log, isolation.breaker)
  const attempts = observeAttempts(debug?.attempts(sender) ?? sender)
  const retrying = createRetrySender(attempts, isolation.breaker)
  const compressing = settings.compression === 'gzip' ? createGzipSender(retrying) : retrying
  const batches = observeBatches(encode(compressing))
  return createIsolationSender({ ...isolation, inner: debug?.batches(batches) ?? batches })
}

function unchanged(sender: Sender): Sender {
  return sender
}
