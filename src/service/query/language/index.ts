/** The query language, shared by the service and its page. */
export { applyCompletion, findCompletion } from './completion.js'
export type { Completion } from './completion.js'
export { addTerm, excludeTerm, listTerms, removeTerm, setComparison, toggleValue } from './edits.js'
export { resolveFieldName } from './fields.js'
export { MAX_QUERY_LENGTH, parseQuery } from './parser.js'
export { formatTerm, printQuery } from './printer.js'
export type { QueryNode, QueryValue } from './query-node.js'
