/** The known name that a wrong one was probably meant to be. */

/** More changes than this make it another word. */
const MAX_DISTANCE = 4

export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((name) => ({ name, distance: editDistance(wrong.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.min(MAX_DISTANCE, Math.ceil(name.length / 2)))
    .toSorted((one, other) => one.distance - other.distance)
  return best?.name
}

/** Levenshtein's: insertions, deletions and replacements between two words. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
