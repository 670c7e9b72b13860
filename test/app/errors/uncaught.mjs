/**
 * An application that throws, run as a real process.
 *
 * `PLAN`: logger: none (nothing is captured), stdout, worker, stream, throwing, or a list of these; kind: the value
 * to throw (`topLevel` throws while the module loads); listens: the events with a listener of the
 * application; options: of `captureUncaught()`; ingest: options of the transport; undo: whether to undo it at once;
 * inWorker: whether to run in a worker thread.
 */
import { Worker, isMainThread } from 'node:worker_threads'
import pino from 'pino'
import { addBreadcrumb, captureUncaught, ingestOptions, ingestStream, withScope } from 'pino-ingest'

const { logger = 'none', kind, listens = [], options, ingest, undo, inWorker } = JSON.parse(process.env.PLAN)

const makers = {
  stdout: () => pino(ingestOptions({ transport: false }), pino.destination({ dest: 1, sync: true })),
  worker: () => pino(ingestOptions({ transport: { target: 'pino-ingest', options: ingest } })),
  stream: () => pino(ingestOptions({ transport: false }), ingestStream(ingest)),
  throwing: () => ({
    error() {},
    fatal() {
      throw new Error('the logger is broken')
    },
  }),
}

function declined() {
  throw new RangeError('declined', { cause: new Error('limit') })
}

const kinds = {
  thrown: declined,
  text() {
    throw 'a text' // oxlint-disable-line no-throw-literal
  },
  nothing() {
    throw undefined // oxlint-disable-line no-throw-literal
  },
  frozen() {
    throw Object.freeze(new Error('frozen'))
  },
  rejectedText: () => void Promise.reject('a text'), // oxlint-disable-line prefer-promise-reject-errors
  async: async () => {
    await undefined
    throw new Error('async')
  },
  scope: () =>
    withScope({ request_id: 'r-1' }, () => {
      addBreadcrumb({ message: 'before' })
      setTimeout(declined, 1)
    }),
  rejectedScope: () =>
    withScope({ request_id: 'r-1' }, async () => {
      addBreadcrumb({ message: 'before' })
      await undefined
      throw new Error('async')
    }),
  twice() {
    setTimeout(() => {
      throw new Error('second')
    }, 100)
    throw new Error('first')
  },
  exits() {
    setTimeout(() => process.exit(), 100)
    throw new Error('first')
  },
  topLevel() {},
}

if (inWorker && isMainThread) {
  const worker = new Worker(new URL(import.meta.url))
  worker.on('error', (error) => process.stdout.write(`parent: ${error?.message ?? error}\n`))
  worker.on('exit', (code) => process.stdout.write(`worker ended: ${code}\n`))
} else {
  for (const name of [logger].flat()) {
    if (name === 'none') continue
    const stop = captureUncaught(makers[name](), { timeoutMs: 20_000, ...options })
    if (undo) stop()
  }
  for (const event of listens) {
    process.on(event, (error) => {
      process.stdout.write(`app: ${event === 'exit' ? process.exitCode : event}\n`)
      if (event === 'unhandledRejection' && listens.includes('rethrow')) throw error
    })
  }
  // An error thrown while an ES module loads is a rejection.
  setImmediate(kinds[kind])
  if (kind === 'topLevel') await Promise.reject(new Error('top level'))
}
