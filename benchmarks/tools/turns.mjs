/**
 * The compared variants alternate within every round, forwards and backwards, so other load on the machine affects
 * all of them.
 */
import { Samples } from './statistics.mjs'

/** @typedef {import('./statistics.mjs').Spread} Spread */

/**
 * @template {string} C
 * @template {string} V
 * @param {{
 *   rounds: number, cases: readonly C[], variants: readonly V[], showProgress: (line: string) => void,
 *   run: (name: C, variant: V) => Promise<Record<string, number>>,
 * }} turns `run`: one run, its results by name
 * @returns {Promise<Record<C, Record<V, Record<string, Spread>>>>}
 */
export async function inTurns({ rounds, cases, variants, showProgress, run }) {
  const samples = cases.map((name) => ({ name, of: variants.map((variant) => ({ variant, values: new Samples() })) }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, of } of samples) {
      showProgress(`round ${round + 1} of ${rounds}: ${name}`)
      for (const { variant, values } of round % 2 === 0 ? of : of.toReversed()) {
        for (const [what, value] of Object.entries(await run(name, variant))) values.add(what, value)
      }
    }
  }
  const spreads = samples.map(({ name, of }) => [
    name,
    Object.fromEntries(of.map(({ variant, values }) => [variant, values.spreads()])),
  ])
  return Object.fromEntries(spreads)
}
