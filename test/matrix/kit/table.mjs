/** Formats results as Markdown tables. */

const RUNTIME_COLUMNS = ['target', 'targets', 'pipeline', 'in-process', 'pipe']
const TOOL_COLUMNS = ['worker thread', 'in-process']
const LIBRARY_COLUMNS = ['worker', 'stream', 'pipe', 'same lines']
const APPLICATION_COLUMNS = ['transport', 'ingestOptions()', 'pipe']

/** @typedef {import('./types.d.mts').Result} Result */

/** @param {readonly Result[]} results */
export function matrixMarkdown(results) {
  const runtimes = rows(
    results.filter(({ table }) => table === 'runtimes'),
    RUNTIME_COLUMNS,
  )
  const tools = rows(
    results.filter(({ table }) => table === 'tools'),
    TOOL_COLUMNS,
  )
  const applications = rows(
    results.filter(({ table }) => table === 'applications'),
    APPLICATION_COLUMNS,
  )
  const libraries = rows(
    results.filter(({ table }) => table === 'libraries'),
    LIBRARY_COLUMNS,
  )
  return [
    `| ESM, CJS and TypeScript on | ${RUNTIME_COLUMNS.join(' | ')} |`,
    `|---|${RUNTIME_COLUMNS.map(() => '---').join('|')}|`,
    ...runtimes.map(({ row, cells }) => `| ${row} | ${cells.join(' | ')} |`),
    '',
    `| with | ${TOOL_COLUMNS.join(' | ')} | what it takes |`,
    `|---|${TOOL_COLUMNS.map(() => '---').join('|')}|---|`,
    ...tools.map(({ row, cells, takes }) => `| ${row} | ${cells.join(' | ')} | ${takes || 'nothing'} |`),
    '',
    `| logged with | ${APPLICATION_COLUMNS.map((column) => column.replace('ingestOptions()', '`$&`')).join(' | ')} |`,
    `|---|${APPLICATION_COLUMNS.map(() => '---').join('|')}|`,
    ...applications.map(({ row, cells }) => `| ${row} | ${cells.map((cell) => cell || '–').join(' | ')} |`),
    '',
    `| versions | ${LIBRARY_COLUMNS.join(' | ')} |`,
    `|---|${LIBRARY_COLUMNS.map(() => '---').join('|')}|`,
    ...libraries.map(({ row, cells }) => `| ${row} | ${cells.join(' | ')} |`),
    '',
  ].join('\n')
}

/** In the order of first appearance. @param {readonly Result[]} results @param {readonly string[]} columns */
function rows(results, columns) {
  return [...new Set(results.map(({ row }) => row))].map((row) => {
    const own = results.filter((result) => result.row === row)
    const cells = columns.map((column) => cellText(own.filter((result) => result.column === column)))
    return {
      row,
      cells,
      takes: [...new Set(own.map(({ takes }) => takes).filter((text) => text !== undefined))].join('; '),
    }
  })
}

/** @param {readonly Result[]} results of one row and column, by kind */
function cellText(results) {
  if (results.length === 0) return ''
  const signs = new Set(results.map(sign))
  return signs.size === 1 ? [...signs].join('') : results.map((result) => `${result.kind} ${sign(result)}`).join(', ')
}

/** @param {Result} result */
function sign({ outcome, arrived, wrong }) {
  if (outcome === 'works') return '✓'
  if (wrong !== undefined) return `✗ ${wrong.join(', ')}`
  return outcome === 'refused' ? 'no' : `✗ ${arrived} of 1,000`
}
