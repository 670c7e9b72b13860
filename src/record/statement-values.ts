/**
 * [worker] Removes the values from the statements in errors of database clients: passwords, personal data. The
 * statement itself is kept.
 */
import type { Json, JsonObject } from '../protocol/log-entry.js'
import { isMarkedNumber } from '../shared/exact-json.js'
import { isObject } from './coerce.js'

type Rule = (value: Json, error: JsonObject) => Json | undefined

/** ioredis: `{ name: 'auth', args: ['password'] }`. */
const commandName: Rule = (value) =>
  isObject(value) && typeof value['name'] === 'string' && Array.isArray(value['args']) ? value['name'] : undefined

/** node_redis: `{ command: 'AUTH', args: ['password'] }`. */
const noArguments: Rule = (value, { command }) => {
  const name = Array.isArray(command) && command.length === 1 ? command[0] : command
  return Array.isArray(value) && typeof name === 'string' && /^[A-Z][A-Z. ]*$/.test(name) ? OMITTED_VALUES : undefined
}

/** TypeORM, Sequelize, Drizzle: a list, or an object with a member per parameter, next to the statement. */
const noParameters: Rule = (value, error) =>
  (Array.isArray(value) || isObject(value)) && ['sql', 'query'].some((key) => typeof error[key] === 'string')
    ? OMITTED_VALUES
    : undefined

/**
 * mysql and mysql2 write the values into the statement. Double quotes are not matched, because other databases use them
 * for names. PostgreSQL also quotes with `$$` or `$name$`.
 */
const STRING_LITERAL = /'(?:[^'\\]|\\[^]|'')*(?:'|\\?$)|(?<![\w$])(\$(?:[a-z_]\w*)?\$)[^]*?(?:\1|$)/gi
const MYSQL_LITERAL = /'(?:[^'\\]|\\[^]|'')*(?:'|\\?$)|"(?:[^"\\]|\\[^]|"")*(?:"|\\?$)/gi
const NUMBER_LITERAL = /(?<![\w$`".])(?:0x[\da-f]+|\d+(?:\.\d+)?)(?![\w$])/gi
const withoutLiterals: Rule = (value, error) => {
  if (typeof value !== 'string') return undefined
  if (isMarkedNumber(value)) return '?'
  const isMysql = error['sqlState'] !== undefined || error['sqlMessage'] !== undefined
  return value.replace(isMysql ? MYSQL_LITERAL : STRING_LITERAL, '?').replace(NUMBER_LITERAL, '?')
}

/** Drizzle also writes the values into the message. */
const PARAMS_TEXT = /\nparams: [^]*?(?=\n[ \t]+at |$)/g

/** MongoDB: `op` is the document. */
const withoutDocuments: Rule = (value) =>
  Array.isArray(value) ? value.map((item) => (isObject(item) ? withoutDocument(item) : item)) : undefined

const OMITTED_VALUES = '[omitted]'

const RULES: ReadonlyMap<string, Rule> = new Map([
  ['command', commandName],
  ['args', noArguments],
  ['sql', withoutLiterals],
  ['parameters', noParameters],
  ['params', noParameters],
  ['bindings', noParameters],
  ['values', noParameters],
  ['writeErrors', withoutDocuments],
])

export const STATEMENT_MEMBERS: ReadonlySet<string> = new Set(RULES.keys())

/** Removes the values from an error, or an object within an error, in place. */
export function omitStatementValues(error: JsonObject): void {
  if (!Object.keys(error).some((key) => STATEMENT_MEMBERS.has(key))) return
  if (error['params'] !== undefined && (typeof error['query'] === 'string' || typeof error['sql'] === 'string'))
    for (const key of ['message', 'stack']) {
      const text = error[key]
      if (typeof text === 'string') error[key] = text.replace(PARAMS_TEXT, '')
    }
  for (const [key, rule] of RULES) {
    const value = error[key]
    const kept = value === undefined ? undefined : rule(value, error)
    if (kept !== undefined) error[key] = kept
  }
}

function withoutDocument({ op: _document, ...item }: JsonObject): JsonObject {
  const { err } = item
  return isObject(err) ? { ...item, err: withoutDocument(err) } : item
}
