/**
 * What does a record cost in pino's worker, stage by stage, how much of it does the fast path save, and what do spool and trail add?
 * `npm run bench -- [--only stages|worker|spool|trail] [--rounds 11] [--records 30000] [--worker-rounds 5] [--worker-records 150000] [--out FILE]`
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { print } from './print.mjs'
import { measureSpool, printSpool } from './worker/spool.mjs'
import { measureStages } from './stages/stages.mjs'
import { surroundings } from './tools/surroundings.mjs'
import { measureTrail, printTrail } from './worker/trail.mjs'
import { canMeasureThreads } from './tools/threads.mjs'
import { measureWorker } from './worker/worker.mjs'

const { values } = parseArgs({
  options: {
    'rounds': { type: 'string', default: '11' },
    'records': { type: 'string', default: '30000' },
    'worker-rounds': { type: 'string', default: '5' },
    'worker-records': { type: 'string', default: '150000' },
    'out': { type: 'string' },
    'only': { type: 'string' },
  },
})

const settings = {
  rounds: positive('rounds'), records: positive('records'),
  workerRounds: positive('worker-rounds'), workerRecords: positive('worker-records'),
}
const tell = (/** @type {string} */ line) => console.error(line)

const isWanted = (/** @type {string} */ name) => values.only === undefined || values.only === name
if (!canMeasureThreads) tell('worker, spool, trail: skipped, the CPU time of a thread is read from /proc, which only Linux has')
const stages = isWanted('stages') ? await measureStages({ rounds: settings.rounds, records: settings.records, tell }) : undefined
const ofWorker = { rounds: settings.workerRounds, records: settings.workerRecords, tell }
const worker = canMeasureThreads && isWanted('worker') ? await measureWorker(ofWorker) : undefined
const spool = canMeasureThreads && isWanted('spool') ? await measureSpool(ofWorker) : undefined
const trail = canMeasureThreads && isWanted('trail') ? await measureTrail(ofWorker) : undefined
const result = { ...surroundings(), settings, unit: 'us of CPU a record: median, min and max of the rounds', stages, worker, spool, trail }
print(result)
if (spool !== undefined) printSpool(spool)
if (trail !== undefined) printTrail(trail)
if (values.only === undefined || values.out !== undefined) {
  writeFileSync(values.out ?? new URL('./results/latest.json', import.meta.url), `${JSON.stringify(result, null, 2)}\n`)
}

/** @param {'rounds' | 'records' | 'worker-rounds' | 'worker-records'} name */
function positive(name) {
  const value = Number(values[name])
  if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`--${name} must be a positive integer, got ${values[name]}`)
  return value
}
