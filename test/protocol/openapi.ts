/** Writes the log service's interface as OpenAPI 3.1, from the types and limits of `src/protocol`. */
import ts from 'typescript-5.9'
import {
  API_KEY_HEADER,
  CONTENT_TYPE,
  MAX_LOGS_PER_REQUEST,
  MONITOR_NAME_HEADER,
  PATHS,
} from '../../src/protocol/limits.js'
import { LEVELS } from '../../src/protocol/log-entry.js'
import { readText } from '../markdown.js'

export type Schema = Readonly<Record<string, unknown>>

const FILES = ['log-entry', 'ingest-result', 'resources'].map((name) => `src/protocol/${name}.ts`)
/** Numbers that are integers by the interface. */
const INTEGERS = new Set(['status_code', 'index', 'accepted', 'rejected'])
const REFERENCE = '#/components/schemas/'
const refer = (name: string): Schema => ({ $ref: REFERENCE + name })

/** A schema for each interface of a file. */
function readSchemas(file: string): [string, Schema][] {
  const source = ts.createSourceFile(file, readText(file), ts.ScriptTarget.ES2022, true)
  const toSchema = (type: ts.TypeNode, name: string): Schema => {
    const text = type.getText()
    if (ts.isArrayTypeNode(type)) return { type: 'array', items: toSchema(type.elementType, name) }
    if (ts.isParenthesizedTypeNode(type)) return toSchema(type.type, name)
    if (ts.isUnionTypeNode(type)) return { anyOf: type.types.map((one) => toSchema(one, name)) }
    if (text === 'number') return { type: INTEGERS.has(name) ? 'integer' : 'number' }
    if (text === 'Level') return { type: 'string', enum: LEVELS }
    if (text === 'JsonObject') return { type: 'object' }
    return ts.isTypeReferenceNode(type) ? refer(text) : { type: text }
  }
  return source.statements.filter(ts.isInterfaceDeclaration).map(({ name, members }) => {
    const fields = members.filter(ts.isPropertySignature)
    const properties = fields.map((field) => {
      const key = field.name.getText()
      const [comment] = ts.getJSDocCommentsAndTags(field)
      const description = ts.getTextOfJSDocComment(comment?.comment)
      const limit = key === 'logs' ? { maxItems: MAX_LOGS_PER_REQUEST } : {}
      return [key, { ...toSchema(field.type as ts.TypeNode, key), ...limit, ...(description && { description }) }]
    })
    const required = fields.filter(({ questionToken }) => !questionToken).map((field) => field.name.getText())
    return [
      name.text,
      {
        type: 'object',
        properties: Object.fromEntries(properties) as object,
        ...(required.length > 0 && { required }),
      },
    ]
  })
}

const json = (schema: Schema): object => ({ content: { [CONTENT_TYPE]: { schema } } })

/** @param body, reply names of schemas; without `reply` the service's body is not defined */
function describeKeyed(summary: string, body: string, reply?: string, invalid?: Schema): object {
  return {
    post: {
      summary,
      security: [{ key: [] }],
      requestBody: { required: true, ...json(refer(body)) },
      responses: {
        200: { description: 'Accepted.', ...(reply !== undefined && json(refer(reply))) },
        401: { description: 'The key is invalid.', ...json(refer('ErrorDetailBody')) },
        422: { description: 'The body is invalid.', ...json(invalid ?? refer('ErrorDetailBody')) },
        429: {
          description: 'There are too many requests. Wait for the seconds in Retry-After.',
          headers: { 'Retry-After': { schema: { type: 'integer' } } },
        },
      },
    },
  }
}

const TOKEN = { name: 'monitor_token', in: 'path', required: true, schema: { type: 'string' } }
const NAME = {
  name: MONITOR_NAME_HEADER,
  in: 'header',
  description: 'Name of the monitor.',
  schema: { type: 'string' },
}

export function createOpenApi(): object {
  const schemas = Object.fromEntries(FILES.flatMap(readSchemas))
  const { JsonObject: _, ...named } = schemas
  return {
    openapi: '3.1.0',
    info: {
      title: 'Log service',
      version: 'v1',
      description: 'The HTTP interface that pino-ingest sends to. `npx pino-ingest dev` implements it.',
    },
    servers: [{ url: 'http://127.0.0.1:4319/api/v1', description: 'The local service.' }],
    paths: {
      [PATHS.ingest]: describeKeyed('Stores log entries.', 'IngestBatch', 'IngestResult', {
        anyOf: [refer('IngestResult'), refer('ErrorDetailBody')],
      }),
      [PATHS.requests]: describeKeyed('Stores request logs.', 'RequestLogs'),
      [PATHS.feedback]: describeKeyed("Attaches a user's feedback to an entry.", 'Feedback'),
      [PATHS.registerRelease]: describeKeyed('Registers a release.', 'Release', 'RegisteredRelease'),
      [`${PATHS.heartbeat}{${TOKEN.name}}`]: {
        post: {
          summary: 'Reports that a job is alive.',
          security: [],
          parameters: [TOKEN, NAME],
          responses: { 200: { description: 'Accepted.' }, 404: { description: 'There is no such monitor.' } },
        },
      },
    },
    components: {
      schemas: named,
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: API_KEY_HEADER } },
    },
  }
}
