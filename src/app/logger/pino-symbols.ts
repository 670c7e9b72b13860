/** [main] What pino keeps on a logger under symbols of its own: found by their names, so that pino is not loaded for them. */

/** By name, as the last logger had them. Several copies of pino have symbols of their own. */
const symbols = new Map<string, symbol>()

export function readPinoProperty(logger: object, name: string): unknown {
  const usual = symbols.get(name)
  if (usual !== undefined && usual in logger) return (logger as Record<symbol, unknown>)[usual]
  for (let at: object | null = logger; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const symbol = Object.getOwnPropertySymbols(at).find(({ description }) => description === name)
    if (symbol === undefined) continue
    symbols.set(name, symbol)
    return (logger as Record<symbol, unknown>)[symbol]
  }
  return undefined
}
