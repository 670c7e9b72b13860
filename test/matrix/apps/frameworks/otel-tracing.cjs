const { registerInstrumentations } = require('@opentelemetry/instrumentation')
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
const { PinoInstrumentation } = require('@opentelemetry/instrumentation-pino')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')

new NodeTracerProvider().register()
registerInstrumentations({ instrumentations: [new HttpInstrumentation(), new PinoInstrumentation()] })
