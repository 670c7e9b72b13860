/**
 * Each package alone with pino, started alternately in new processes: the time until the worker is ready, and the
 * size of the installation.
 */
import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { EMPTY, OURS, peerSubjects } from '../peers/subjects.mjs'
import { withPeerSink } from '../peers/run.mjs'
import { Samples } from '../tools/statistics.mjs'
import { installEach } from './folders.mjs'
import { sizeChart, sizeLines, startChart, startLines } from './print.mjs'
import { runOnce } from './run.mjs'
import { sizeOf } from './size.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('./folders.mjs').Folder} Folder
 * @typedef {import('./run.mjs').Starter} Starter
 *
 * @typedef {object} Start
 * @property {string} name
 * @property {boolean} isOurs
 * @property {number} [waitMs] wait for more records before the first request
 * @property {string[]} void void rounds with the reason
 * @property {Partial<Record<keyof import('./run.mjs').Measured, Spread>>} spreads
 *
 * @typedef {import('./size.mjs').Size & { name: string, version: string, isOurs: boolean, tarballBytes?: number }} Installed
 * @typedef {{ installed: Installed[], starts: Start[] }} Result
 */

/** Rounds that do not count, in which the system reads the files into its cache. */
const WARM_UP = 1
/**
 * Waits in ms, as configured in `peers/subjects.mjs`. The 1,000 ms of @axiomhq/pino are fixed; ours is the wait after
 * a pause.
 */
const WAITS_MS = /** @type {Readonly<Record<string, number>>} */ ({
  [OURS.name]: 50,
  'pino-loki': 50,
  'pino-elasticsearch': 100,
  '@axiomhq/pino': 1000,
  'pino-opentelemetry-transport': 100,
  '@logtail/pino': 100,
  'pino-datadog-transport': 50,
})

export const question = {
  name: 'start',
  asks: 'How long does a transport take until it is ready and until its first record is answered, and how large is its installation, compared with the peers?',
  options: { rounds: 5 },
  quick: { rounds: 1 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options: { rounds = 0 }, showProgress }) {
    const folders = installEach(showProgress)
    const installed = folders.map(installedOf)
    const samples = startersOf(folders).map((starter) => ({
      starter,
      of: new Samples(),
      none: /** @type {string[]} */ ([]),
    }))
    await withPeerSink(async (sink) => {
      for (let round = 1 - WARM_UP; round <= rounds; round += 1) {
        showProgress(round < 1 ? 'warm-up round' : `round ${round} of ${rounds}`)
        for (const { starter, of, none } of round % 2 === 0 ? samples : samples.toReversed()) {
          try {
            const measured = await runOnce(sink, starter)
            if (round >= 1) for (const [what, value] of Object.entries(measured)) of.add(what, value)
          } catch (error) {
            showProgress(`does not count: ${starter.name}: ${String(error)}`)
            if (round >= 1) none.push(`round ${round}: ${/** @type {Error} */ (error).message}`)
          }
        }
      }
    })
    return {
      installed,
      starts: samples.map(({ starter: { name, peer, isOurs = false }, of, none }) => {
        const waitMs = WAITS_MS[peer]
        return { name, isOurs, ...(waitMs !== undefined && { waitMs }), void: none, spreads: of.spreads() }
      }),
    }
  },

  /** @param {Result} result */
  lines: (result) => [...startLines(result.starts), '', ...sizeLines(result.installed)],

  /** @param {Result} result */
  charts: (result) => ({ 'start.svg': startChart(result.starts), 'start-size.svg': sizeChart(result.installed) }),
}

/** @param {Folder} folder @returns {Installed} */
function installedOf({ name, version, path, tarball }) {
  return {
    name,
    version,
    isOurs: name === OURS.name,
    ...(tarball !== undefined && { tarballBytes: statSync(tarball).size }),
    ...sizeOf(path),
  }
}

/** @param {readonly Folder[]} folders pino alone, ours, peers @returns {Starter[]} */
function startersOf([pino, ours, ...peers]) {
  if (pino === undefined || ours === undefined) throw new Error('pino and pino-ingest have a folder each')
  const targetIn = (/** @type {Folder} */ { name, path }) => createRequire(join(path, 'package.json')).resolve(name)
  const subjects = peerSubjects(
    peers.map((peer) => ({
      name: /** @type {import('../peers/install.mjs').PeerName} */ (peer.name),
      version: peer.version,
      target: targetIn(peer),
    })),
  )
  return [
    { ...EMPTY, folder: pino.path },
    { ...OURS, target: targetIn(ours), folder: ours.path },
    { ...OURS, name: `${OURS.name}, ingestStream()`, folder: ours.path, isInProcess: true },
    ...subjects.map((subject, n) => ({ ...subject, folder: /** @type {Folder} */ (peers[n]).path })),
  ]
}
