/** `app | pino-ingest` against the pipe of a peer: the same lines through stdin, alternately in new processes. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { dirname, join } from 'node:path'
import { installPeers } from '../peers/install.mjs'
import { formatRatio } from '../peers/ratios.mjs'
import { withPeerSink } from '../peers/run.mjs'
import { callsOf, chunksOf, sentOf, SHAPE_NAMES } from '../tools/shapes.mjs'
import { ratios, spread } from '../tools/statistics.mjs'
import { cell, table } from '../tools/table.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {{ name: string, peer: string, command: (host: string) => readonly string[], copies: boolean }} Pipe
 * @typedef {{ shape: Shape, name: string, recordsPerSecond: Spread, ratio: Spread }} Row `ratio`: to the peer, by round
 */

const OURS = fileURLToPath(new URL('../../dist/cjs/cli.js', import.meta.url))
const PEER = 'pino-loki'
/** Records that are missing after this time without arrivals are lost. */
const LOST_AFTER_MS = 5_000
const LIMIT_MS = 120_000

export const question = {
  name: 'pipe',
  asks: 'How many records per second does the pipe take from stdin until all are sent, compared with the pipe of pino-loki?',
  options: { rounds: 3, records: 200_000 },
  quick: { rounds: 1, records: 20_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Row[]>} */
  async measure({ options: { rounds = 0, records = 0 }, showProgress }) {
    const pipes = pipesOf(showProgress)
    /** @type {Row[]} */
    const rows = []
    await withPeerSink(async (sink) => {
      for (const shape of SHAPE_NAMES) {
        const chunks = chunksOf(shape, records)
        const expected = sentOf(callsOf(shape), records)
        const rates = pipes.map(() => /** @type {number[]} */ ([]))
        for (let round = 0; round < rounds; round += 1) {
          const order = [...pipes.entries()]
          for (const [n, pipe] of round % 2 === 0 ? order : order.toReversed()) {
            const seconds = await runOnce(sink, pipe, chunks, expected)
            rates[n]?.push(records / seconds)
          }
          showProgress(`${shape}, round ${round + 1} of ${rounds}`)
        }
        const ofPeer = rates.at(-1) ?? []
        for (const [n, { name }] of pipes.entries())
          rows.push({
            shape,
            name,
            recordsPerSecond: spread(rates[n] ?? []),
            ratio: spread(ratios(rates[n] ?? [], ofPeer)),
          })
      }
    })
    return rows
  },

  /** @param {Row[]} rows */
  lines: (rows) => [
    'median (min to max); from the start of the process to its exit',
    '',
    ...table([
      ['', 'pipe', 'records/s', `times ${PEER}`],
      ...rows.map(({ shape, name, recordsPerSecond, ratio }) => [
        shape,
        name,
        cell(recordsPerSecond, (value) => Math.round(value).toLocaleString('en-US')),
        formatRatio(ratio),
      ]),
    ]),
  ],
}

/** The peer last. @param {(line: string) => void} showProgress @returns {Pipe[]} */
function pipesOf(showProgress) {
  const peer = installPeers(showProgress).find(({ name }) => name === PEER)
  if (peer === undefined) throw new Error(`${PEER} could not be installed`)
  const folder = dirname(createRequire(peer.target).resolve(`${PEER}/package.json`))
  const ours = (/** @type {string} */ host) => [OURS, '--url', `${host}/api/v1`, '--service', 'shop']
  return [
    { name: 'pino-ingest', peer: 'pino-ingest', command: ours, copies: true },
    { name: 'pino-ingest --quiet', peer: 'pino-ingest', command: (host) => [...ours(host), '--quiet'], copies: false },
    // It does not copy its input.
    {
      name: PEER,
      peer: PEER,
      command: (host) => [
        join(folder, 'dist/cli.mjs'),
        '--hostname',
        host,
        '-i',
        '1',
        '--batching-max-buffer-size',
        '0',
      ],
      copies: false,
    },
  ]
}

/**
 * @param {Parameters<Parameters<typeof withPeerSink>[0]>[0]} sink @param {Pipe} pipe @param {readonly string[]} chunks
 * @param {number} expected entries @returns {Promise<number>} seconds
 */
async function runOnce(sink, { name, peer, command, copies }, chunks, expected) {
  await sink.ask({ begin: { peer, delayMs: 0 } })
  const startedAt = performance.now()
  const child = spawn(process.execPath, command(sink.url), {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PINO_INGEST_API_KEY: 'benchmark', PINO_INGEST_SPOOL: 'false' },
  })
  let copied = 0
  child.stdout.on('data', (/** @type {Buffer} */ bytes) => {
    copied += bytes.length
  })
  const exited = new Promise((resolve) => child.once('close', resolve))
  for (const chunk of chunks)
    if (!child.stdin.write(chunk)) await new Promise((resolve) => child.stdin.once('drain', resolve))
  child.stdin.end()
  await exited
  const seconds = (performance.now() - startedAt) / 1_000
  const { entries } = await sink.ask({ awaits: expected, quietMs: LOST_AFTER_MS, limitMs: LIMIT_MS })
  if (entries !== expected) throw new Error(`${name}: ${entries} entries instead of ${expected}`)
  const inputBytes = chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0)
  if (copies && copied !== inputBytes) throw new Error(`${name}: ${copied} bytes copied instead of ${inputBytes}`)
  return seconds
}
