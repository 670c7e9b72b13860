import assert from 'node:assert'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { inflateSync } from 'node:zlib'
import { HEADERS, closedPort } from './servers.mjs'

const closed = await closedPort()
const failed = (emitter) => new Promise((_, reject) => emitter.on('error', reject))

export const cases = {
  'AbortSignal.timeout': async () => {
    const signal = AbortSignal.timeout(5)
    await sleep(50)
    signal.throwIfAborted()
  },
  'AbortSignal.abort': () => AbortSignal.abort().throwIfAborted(),
  'timer aborted': () => sleep(1000, undefined, { signal: AbortSignal.timeout(5) }),
  AggregateError: () => Promise.any([Promise.reject(new Error('first')), Promise.reject(new RangeError('second'))]),
  'all addresses refused': () => failed(connect(closed, 'all.test')),
  'request refused': () => failed(request({ port: closed, host: '127.0.0.1', headers: HEADERS }).end()),
  cause: () => {
    throw new Error('no order', { cause: new TypeError('no price', { cause: Object.assign(new Error('no row'), { code: 'E_ROW' }) }) })
  },
  'cause that is no error': () => {
    throw new Error('no order', { cause: { order: 7, reason: 'sold out' } })
  },
  'wrong argument': () => readFile(7.5, { encoding: 'utf9' }),
  'no file': () => readFile('/no/such/file'),
  'no URL': () => new URL('http://shop:secret-password@ host/'),
  'no JSON': () => JSON.parse('{"order":x}'),
  assertion: () => assert.deepStrictEqual({ a: Array.from({ length: 2000 }, (_, n) => n) }, { a: [] }, 'not the same'),
  'child process': () => promisify(execFile)(process.execPath, ['-e', 'console.error("gone"); process.exit(3)']),
  'broken stream': () => inflateSync(Buffer.from('no deflate')),
  'stack overflow': () => {
    const dive = () => dive() + 1
    dive()
  },
  text: () => {
    throw 'thrown as text'
  },
}
