/** The query language, shared by the service and its page. */
export { applyCompletion, findCompletion, isUnfinishedChart } from './completion.js'
export type { Completion } from './completion.js'
export {
  addTerm,
  createRequestQuery,
  excludeTerm,
  excludeValues,
  hasField,
  listTerms,
  removeTerm,
  setComparison,
  toggleValue,
} from './edits.js'
export { REQUEST_FIELDS, resolveFieldName } from './fields.js'
export type { QueryMistake } from './mistakes.js'
export { findMistake } from './mistakes.js'
export { CHART_FUNCTIONS, parseChart, printChart } from './chart.js'
export type { Chart } from './chart.js'
export { formatSearch, MAX_QUERY_LENGTH, parseQuery, parseSearch, splitSearch } from './parser.js'
export { formatTerm, printQuery } from './printer.js'
export { findText, listSearchTexts } from './search-texts.js'
export type { QueryNode, QueryValue } from './query-node.js'
