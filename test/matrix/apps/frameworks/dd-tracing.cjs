/** Datadog's tracer, also behind OpenTelemetry's API. */
const tracer = require('dd-trace').init({ logInjection: true, startupLogs: false, plugins: true })

new tracer.TracerProvider().register()
