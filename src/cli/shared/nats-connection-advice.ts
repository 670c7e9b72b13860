/** Advice for a failed connection to NATS. Pure. */
import type { NatsSettings } from '../../options/nats-settings.js'

/** @param text message of the error */
export function toConnectionAdvice(
  { credentials, tls }: Pick<NatsSettings, 'credentials' | 'tls'>,
  text: string,
  isRejected: boolean,
): string {
  if (isRejected) {
    return credentials === undefined
      ? 'the servers require credentials: set PINO_INGEST_NATS_CREDS to a file that contains them'
      : 'set PINO_INGEST_NATS_CREDS to a file with credentials that these servers accept'
  }
  if (/certificate/i.test(text)) return 'for a private CA set PINO_INGEST_NATS_TLS_CA to a file with its certificate'
  if (/does not support 'tls'/i.test(text))
    return 'these servers do not support TLS: remove tls:// and PINO_INGEST_NATS_TLS_*'
  if (/refused/i.test(text)) return 'start the servers, or fix the address and port'
  return tls === undefined
    ? 'check the address and firewalls, and whether the servers require TLS (tls://)'
    : 'check the address and firewalls'
}
