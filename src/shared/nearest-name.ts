/** Finds the known name that an unknown one was probably meant to be. */

/** With more changes it is probably another word. */
const MAX_DISTANCE = 4

/** @param maxDistance letters that may differ; two swapped neighbors count as one */
export function findNearestName<Name extends string>(
  wrong: string,
  known: readonly Name[],
  maxDistance = MAX_DISTANCE,
): Name | undefined {
  const [best] = known
    .map((name) => ({ name, distance: editDistance(wrong.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.min(maxDistance, Math.ceil(name.length / 2)))
    .toSorted((one, other) => one.distance - other.distance)
  return best?.name
}

/** Insertions, deletions, replacements and exchanges of neighbors between two words (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let before: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      const isExchange = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const exchanged = isExchange ? (before[column - 2] ?? Infinity) + 1 : Infinity
      current.push(Math.min(replaced, exchanged, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    before = previous
    previous = current
  }
  return previous[to.length] ?? 0
}
