/** The id that the service gives a monitor, computed here so that the token is not sent. */

/** As in the service. */
const DIGITS = 12

/** The first digits of the token's SHA-256. */
export async function computeMonitorId(token: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .slice(0, DIGITS)
}
