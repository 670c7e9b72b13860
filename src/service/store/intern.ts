/** One string object for equal names, so that maps and comparisons over all records find them by identity. */
const MAX_NAMES = 10_000
const names = new Map<string, string>()

export function intern<T extends string | undefined>(name: T): T {
  if (name === undefined) return name
  const known = names.get(name)
  if (known !== undefined) return known as T
  // Names that differ in every record do not fill the memory.
  if (names.size >= MAX_NAMES) names.clear()
  names.set(name, name)
  return name
}
