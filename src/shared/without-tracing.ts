/**
 * Suppresses spans, so that requests of the transport are not part of the application's traces. Does what `suppressTracing` of
 * `@opentelemetry/core` and of `@sentry/core` do, through their global objects, without an import.
 */

const API = Symbol.for('opentelemetry.js.api.1')
const SUPPRESSED = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

interface Context {
  setValue(key: symbol, value: unknown): Context
}

type WithScope<T> = (call: (scope: { setSDKProcessingMetadata(metadata: object): void }) => T) => T

interface Globals {
  readonly [API]?: { readonly context?: { active(): Context; with<T>(context: Context, call: () => T): T } }
  readonly __SENTRY__?: { readonly [version: string]: unknown }
}

/** Finds them at each call, because the application may register them later. */
export function withoutTracing<T>(call: () => T): T {
  const { [API]: { context } = {}, __SENTRY__: sentry = {} } = globalThis as Globals
  // Since version 11, Sentry has a context of its own.
  const { acs } = (sentry[String(sentry['version'])] ?? {}) as { acs?: { withScope: WithScope<T> } }
  const send = (): T =>
    acs === undefined
      ? call()
      : acs.withScope((scope) => {
          scope.setSDKProcessingMetadata({ __SENTRY_SUPPRESS_TRACING__: true })
          return call()
        })
  return context === undefined ? send() : context.with(context.active().setValue(SUPPRESSED, true), send)
}
