import { describe, expect, it } from 'vitest'
import { toConnectionAdvice } from '../../../src/cli/shared/nats-session.js'
import { Secret } from '../../../src/options/secret.js'

describe('the advice for a failed connection', () => {
  it.each([
    ['Authorization Violation', true, {}, 'require credentials'],
    ['Authorization Violation', true, { credentials: new Secret('x') }, 'PINO_INGEST_NATS_CREDENTIALS_FILE'],
    ['unable to verify the first certificate', false, { tls: {} }, 'PINO_INGEST_NATS_TLS_CA_FILE'],
    ["server does not support 'tls'", false, { tls: {} }, 'remove tls://'],
    ['connection refused', false, {}, 'start the servers'],
    ['timeout', false, {}, 'require TLS'],
    ['timeout', false, { tls: {} }, 'firewalls'],
  ])('for %s (rejected: %s)', (text, isRejected, settings, expected) => {
    expect(toConnectionAdvice(settings, text, isRejected)).toContain(expected)
  })
})
