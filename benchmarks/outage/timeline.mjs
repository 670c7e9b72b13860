/** Aligns samples of two processes, taken at different times, to common times. */

/** The interval of the drawn points. */
export const GRID_MS = 250

/**
 * @template {string} Name
 * @param {readonly ({ atMs: number } & Record<Name, number>)[]} samples by time, at least one @param {Name} name @param {number} atMs
 * @returns {number} interpolated between the two samples around that time
 */
export function valueAt(samples, name, atMs) {
  const after = samples.findIndex((sample) => sample.atMs >= atMs)
  const next = /** @type {typeof samples[number]} */ (samples.at(after))
  const last = samples[after - 1]
  if (after === -1 || last === undefined) return next[name]
  return last[name] + ((next[name] - last[name]) * (atMs - last.atMs)) / (next.atMs - last.atMs)
}

/**
 * The time at which a count was reached, interpolated between the two samples around it.
 *
 * @template {string} Name
 * @param {readonly ({ atMs: number } & Record<Name, number>)[]} samples @param {Name} name @param {number} count @returns {number}
 */
export function reachedAt(samples, name, count) {
  const after = samples.findIndex((sample) => sample[name] >= count)
  const [last, next] = [samples[after - 1], samples[after]]
  if (next === undefined) throw new Error(`${count} ${name} were never reached`)
  if (last === undefined) return next.atMs
  return last.atMs + ((next.atMs - last.atMs) * (count - last[name])) / (next[name] - last[name])
}

/**
 * CPU of a thread in a period, in microseconds per record.
 *
 * @param {readonly import('./app.mjs').AppSample[]} samples @param {'main' | 'worker' | 'others'} thread
 * @param {number} fromMs @param {number} untilMs @param {number} records
 */
export function cpuUsPer(samples, thread, fromMs, untilMs, records) {
  return (valueAt(samples, thread, untilMs) - valueAt(samples, thread, fromMs)) / 1000 / records
}
