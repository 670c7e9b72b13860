/** Takes the key and tokens out of words that come from elsewhere, since a service may echo what it was sent. */

export const MASK = '…'

/** @returns a function that masks each secret: plain, in JSON, URL-encoded and in base64 */
export function masking(secrets: readonly string[]): (words: string) => string {
  const forms = secrets.filter((secret) => secret !== '').flatMap(formsOf)
  return (words) => forms.reduce((rest, form) => rest.replaceAll(form, MASK), words)
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret),
    bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url'),
  ]
}
