/**
 * Number of runs of a property: `few` in `npm test`, where each run costs everybody time, and `full` in
 * `npm run test:model`, which sets MODEL_RUNS. A lower MODEL_RUNS is a limit.
 */
export function modelRuns(few: number, full: number): number {
  const runs = process.env['MODEL_RUNS']
  return runs === undefined ? few : Math.min(full, Number(runs))
}
