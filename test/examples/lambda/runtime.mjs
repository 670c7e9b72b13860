/**
 * A minimal version of Lambda's runtime for Node: it imports the handler, requests an event, calls the handler,
 * posts the result, and requests the next event. It runs the example locally and in tests. Lambda has its own.
 *
 * AWS_LAMBDA_RUNTIME_API: host and port; LAMBDA_TASK_ROOT: the handler's folder; _HANDLER: `file.export`.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'

const {
  AWS_LAMBDA_RUNTIME_API: api,
  LAMBDA_TASK_ROOT: root = fileURLToPath(new URL('.', import.meta.url)),
  _HANDLER: name = 'handler.handler',
} = process.env
if (api === undefined) throw new Error('AWS_LAMBDA_RUNTIME_API is not set: give host and port of a Lambda Runtime API')
const agent = new Agent({ keepAlive: true })

async function call(method, path, body) {
  const reply = await new Promise((resolve, reject) => {
    request(`http://${api}/2018-06-01/runtime/${path}`, { method, agent }, resolve).on('error', reject).end(body)
  })
  return { headers: reply.headers, body: await text(reply) }
}

function contextOf(headers) {
  const deadlineAt = Number(headers['lambda-runtime-deadline-ms'])
  return {
    awsRequestId: headers['lambda-runtime-aws-request-id'],
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    getRemainingTimeInMillis: () => Math.max(deadlineAt - Date.now(), 0),
  }
}

const startedAt = performance.now()
const [file, exported] = name.split('.')
const { [exported]: handler } = await import(pathToFileURL(join(root, `${file}.mjs`)).href)
const importedAt = performance.now()

for (let isFirst = true; ; isFirst = false) {
  const { headers, body } = await call('GET', 'invocation/next')
  const context = contextOf(headers)
  const calledAt = performance.now()
  const outcome = await Promise.resolve(handler(JSON.parse(body), context)).then(
    (result) => ['response', result],
    (error) => [
      'error',
      { errorType: error.name, errorMessage: error.message, stackTrace: String(error.stack).split('\n') },
    ],
  )
  if (isFirst) {
    const [importMs, handlerMs] = [importedAt - startedAt, performance.now() - calledAt].map((ms) => ms.toFixed(0))
    console.error(`cold start: import ${importMs} ms, first invocation with its flush ${handlerMs} ms`)
  }
  const [what, result] = outcome
  await call('POST', `invocation/${context.awsRequestId}/${what}`, JSON.stringify(result ?? null))
}
