/**
 * Number of runs of a property: `few` in `npm test`, where each run costs everybody time, and `full` in
 * `npm run test:model`, which sets MODEL_RUNS. A value between them is a limit.
 */
export function modelRuns(few: number, full: number): number {
  const runs = Number(process.env['MODEL_RUNS'] ?? few)
  return Math.max(few, Math.min(full, runs))
}
