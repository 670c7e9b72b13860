/**
 * [main] Reads properties that pino stores on a logger under symbols. Finds the symbols by description, without loading
 * pino.
 */

/** Symbols of the last logger, by name. Each copy of pino has its own symbols. */
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

export type Serializers = Readonly<Record<string, ((value: unknown) => unknown) | undefined>>

const NONE = Object.create(null) as Serializers

export function readSerializers(logger: object | undefined): Serializers {
  return ((logger && readPinoProperty(logger, 'pino.serializers')) ?? NONE) as Serializers
}

/** pino's option `errorKey`; `err` for another logger. Never throws. */
export function readErrorKey(logger: object): string {
  try {
    const key = readPinoProperty(logger, 'pino.errorKey')
    return typeof key === 'string' ? key : 'err'
  } catch {
    return 'err'
  }
}
