/** Finds the token in a fragment, or in what was pasted: the whole address or the token alone (pure). */
export function tokenIn(text: string): string | null {
  return /[#?&]token=([\w-]+)/.exec(text)?.[1] ?? null
}

export function pastedToken(text: string): string | null {
  const trimmed = text.trim()
  return tokenIn(trimmed) ?? (/^[\w-]+$/.test(trimmed) ? trimmed : null)
}
