/**
 * Number of runs of a property: `few` in `npm test`, where each run costs everybody time. MODEL_RUNS sets more, up to
 * `full`.
 */
export function modelRuns(few: number, full: number): number {
  const runs = Number(process.env['MODEL_RUNS'] ?? few)
  return Math.max(few, Math.min(full, runs))
}
