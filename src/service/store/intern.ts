/** Interns names: equal names become one string object, which maps and comparisons find faster by identity. */
const MAX_NAMES = 10_000
const names = new Map<string, string>()

export function intern<T extends string | undefined>(name: T): T {
  if (name === undefined) return name
  const known = names.get(name)
  if (known !== undefined) return known as T
  // Limits the memory for names that differ in every record.
  if (names.size >= MAX_NAMES) names.clear()
  names.set(name, name)
  return name
}
