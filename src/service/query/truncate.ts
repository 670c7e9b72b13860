/** Truncates a text to `maxLength` characters, including an ellipsis. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const head = text.slice(0, maxLength - 1)
  // Removes half of a surrogate pair, which UTF-8 cannot encode.
  return `${head.isWellFormed() ? head : head.slice(0, -1)}…`
}
