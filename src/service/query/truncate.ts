/** At most `maxLength` characters. A text that was cut ends in an ellipsis. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const head = text.slice(0, maxLength - 1)
  // A lone surrogate cannot be encoded as UTF-8.
  return `${head.isWellFormed() ? head : head.slice(0, -1)}…`
}
