/** Every scenario, in the order of the table. */
import { BACKLOG } from './backlog.mjs'
import { CRASH_LOOP } from './crash-loop.mjs'
import { KILL_SCENARIOS } from './kill-runs.mjs'
import { MEMORY } from './memory.mjs'
import { OUR_SCENARIOS } from './scenarios-ours.mjs'
import { SCENARIOS } from './scenarios.mjs'
import { STOPPED } from './stop-cont.mjs'
import { TEN } from './ten.mjs'

/** @type {readonly import('./scenarios.mjs').Scenario[]} */
export const ALL = [...SCENARIOS, ...OUR_SCENARIOS, ...KILL_SCENARIOS, TEN, STOPPED, CRASH_LOOP, MEMORY, BACKLOG]
