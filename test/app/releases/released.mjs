/**
 * An application under test that registers its release, run as a real process. `PLAN`: mode, options of the
 * transport, isCold: whether the worker has yet to start. Logs `before` unless isCold, then `after` once the release
 * is registered; flushes, and reports the id by IPC.
 */
import pino from 'pino'
import { flush, ingestStream, registerRelease } from 'pino-ingest'

const { mode, options, isCold } = JSON.parse(process.env.PLAN)
const target = { target: 'pino-ingest', options }

function loggerFor() {
  if (mode === 'stream') return pino({}, ingestStream(options))
  if (mode === 'multistream')
    return pino({}, pino.multistream([{ stream: ingestStream(options) }, { stream: pino.transport(target) }]))
  if (mode === 'targets')
    return pino({
      transport: { targets: [target, { target: 'pino/file', options: { destination: '/dev/null' } }, target] },
    })
  if (mode === 'pipeline') return pino({ transport: { pipeline: [target] } })
  return pino({ transport: target })
}

const root = loggerFor()
const logger = mode === 'child' ? root.child({ part: 'web' }) : root
if (!isCold) {
  logger.info('before')
  // The transport must have read this record before the release arrives; it is not enough to have logged it.
  await flush(root)
}
const releaseId = await registerRelease({ url: options.url, apiKey: options.apiKey, version: '1.4.0', logger })
logger.info('after')
root.info({ release_id: 'own' }, 'own')
const { state } = await flush(root)
process.send({ releaseId, state })
process.disconnect()
