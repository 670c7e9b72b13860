/** Finds secrets in text (pure). */

/** Whether the text contains the secret, as it is or percent-encoded. */
export function containsSecret(text: string, secret: string): boolean {
  const decoded = text.replace(/(?:%[\da-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  )
  return text.includes(secret) || decoded.includes(secret)
}
