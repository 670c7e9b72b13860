/** The benchmarks' tools, which are JavaScript and outside this project's type check. */
export interface Question {
  name: string
  asks: string
  options: Record<string, number>
  quick?: Record<string, number>
  measure: (asked: object) => Promise<unknown>
  lines: (result: unknown) => string[]
  charts?: (result: unknown) => Record<string, object>
}

export const BENCHMARKS = new URL('../../benchmarks/', import.meta.url)

/** @param name such as `tools/chart` */
export function load(name: string) {
  return import(new URL(`${name}.mjs`, BENCHMARKS).href)
}
