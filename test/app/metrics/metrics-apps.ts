/** Loggers with the transport in each mode. The worker loads the built package. */
import { once } from 'node:events'
import pino from 'pino'
import { onTestFinished } from 'vitest'
import { ingestStream } from '../../../src/index.js'
import type { IngestOptions } from '../../../src/index.js'
import { root } from '../../markdown.js'

export type Way = 'target' | 'targets' | 'pipeline' | 'stream' | 'multistream'

export const BUILT = `${root}dist/esm/index.js`

interface Ending extends NodeJS.EventEmitter {
  readonly closed?: boolean
  end(): void
}

export async function ended(stream: Ending): Promise<void> {
  if (stream.closed === true) return
  stream.end()
  await once(stream, 'close')
}

/** The logger logs from level debug; `targets` and `multistream` have two of this package's transports, `targets` beside others. */
export function loggerFor(way: Way, options: IngestOptions): { logger: pino.Logger; streams: readonly Ending[] } {
  const target = { target: BUILT, level: 'debug', options }
  const streams: Ending[] = []
  const own = (): pino.DestinationStream => {
    const stream = ingestStream(options)
    streams.push(stream)
    return stream
  }
  const worker = (
    how: pino.TransportSingleOptions | pino.TransportMultiOptions | pino.TransportPipelineOptions,
  ): pino.DestinationStream => {
    const stream = pino.transport(how) as Ending & pino.DestinationStream
    streams.push(stream)
    return stream
  }
  const destination = (): pino.DestinationStream => {
    switch (way) {
      case 'target':
        return worker({ target: BUILT, options })
      case 'targets': {
        const other = { target: 'pino/file', options: { destination: '/dev/null' } }
        return worker({ targets: [other, target, other, target] })
      }
      case 'pipeline':
        return worker({ pipeline: [{ target: BUILT, options }] })
      case 'stream':
        return own()
      case 'multistream':
        return pino.multistream([
          { level: 'debug', stream: own() },
          { level: 'debug', stream: worker({ target: BUILT, options }) },
        ]) as pino.DestinationStream
    }
  }
  const logger = pino({ level: 'debug' }, destination())
  onTestFinished(async () => {
    for (const stream of streams) await ended(stream)
  })
  return { logger, streams }
}
