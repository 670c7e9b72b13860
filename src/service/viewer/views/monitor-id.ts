/** Computes the id of a monitor in the page, because the token must not be sent. */

/** The same length as in the service. */
const DIGITS = 12

/** Returns the first digits of the token's SHA-256. */
export async function computeMonitorId(token: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .slice(0, DIGITS)
}
