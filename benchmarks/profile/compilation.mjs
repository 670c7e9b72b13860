/** Parses V8's output of --trace-opt and --trace-deopt. Pure. */

/** @typedef {{ optimized: number, onThreadMs: number, besideMs: number, deoptimized: number, reasons: Record<string, number> }} Compilation */

/** "took" has the times to prepare, to compile (in other threads) and to finish. */
const COMPLETED = /^\[completed compiling 0x[0-9a-f]+ <JSFunction ([^ >]*).*took ([\d.]+), ([\d.]+), ([\d.]+) ms\]/
const BAILOUT = /^\[bailout \(kind: [^,]+, reason: ([^)]+)\): begin\. deoptimizing 0x[0-9a-f]+ <JSFunction ([^ >]*)/

/**
 * V8 also prints functions of the main thread; only those in the worker's profile count.
 *
 * @param {string} text @param {ReadonlySet<string>} names @returns {Compilation}
 */
export function compilationOf(text, names) {
  /** @type {Compilation} */
  const sum = { optimized: 0, onThreadMs: 0, besideMs: 0, deoptimized: 0, reasons: {} }
  for (const line of text.split('\n')) {
    const [, compiled, before = 0, beside = 0, after = 0] = COMPLETED.exec(line) ?? []
    if (compiled !== undefined && names.has(compiled)) {
      sum.optimized += 1
      sum.onThreadMs += Number(before) + Number(after)
      sum.besideMs += Number(beside)
    }
    const [, reason, name] = BAILOUT.exec(line) ?? []
    if (reason === undefined || name === undefined || !names.has(name)) continue
    sum.deoptimized += 1
    sum.reasons[reason] = (sum.reasons[reason] ?? 0) + 1
  }
  return sum
}
