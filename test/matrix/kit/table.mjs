/** Formats results as Markdown: tables of runtimes and tools, and a list of frameworks and libraries. */

const RUNTIME_COLUMNS = ['target', 'targets', 'pipeline', 'in-process', 'pipe']
const TOOL_COLUMNS = ['worker thread', 'in-process']

/** @typedef {import('./types.d.mts').Result} Result */

/** @param {readonly Result[]} results */
export function matrixMarkdown(results) {
  const runtimes = group(results, 'runtimes')
  const names = [...new Set(runtimes.map(([row]) => row.replace(/ · .*/, '')))]
  const pinos = [...new Set(runtimes.map(([row]) => row.replace(/.* · /, '')))]
  /** @type {Record<string, string[]>} rows that say the same are one */
  const tools = {}
  for (const [row, own] of group(results, 'tools')) {
    const takes = [...new Set(own.flatMap((result) => result.takes ?? []))].join('; ') || 'nothing'
    ;(tools[`${describe(own, TOOL_COLUMNS)} | ${takes}`] ??= []).push(row)
  }
  return [
    `| ESM and CJS on | ${pinos.join(' | ')} |`,
    `|---|${pinos.map(() => '---').join('|')}|`,
    ...names.map((name) => {
      const cells = pinos.map((pino) => runtimes.find(([row]) => row === `${name} · ${pino}`))
      return `| ${name} | ${cells.map((found) => (found === undefined ? '–' : describe(found[1], RUNTIME_COLUMNS))).join(' | ')} |`
    }),
    '',
    '`–`: not tested.',
    '',
    '| with | works | what it takes |',
    '|---|---|---|',
    ...Object.entries(tools).map(([rest, rows]) => `| ${rows.join('<br>')} | ${rest} |`),
    '',
    '### Frameworks and libraries',
    '',
    'Each framework served a page, an error and a 404; the entries match what was logged.',
    '',
    ...group(results, 'applications').map(([row, own]) => {
      const result = describe(own, [...new Set(own.map(({ column }) => column))])
      return `- ${row}${result === '✓' ? '' : `: ${result}`}`
    }),
    '',
  ]
    .join('\n')
    .replaceAll('in-process', 'with `ingestStream()`')
}

/**
 * By row, in the order of first appearance.
 * @param {readonly Result[]} results @param {Result['table']} wanted
 * @returns {(readonly [row: string, own: readonly Result[]])[]}
 */
function group(results, wanted) {
  const own = results.filter(({ table }) => table === wanted)
  return [...new Set(own.map(({ row }) => row))].map((row) => [row, own.filter((result) => result.row === row)])
}

/** One sign if all columns have it, else those of each column. @param {readonly Result[]} results of one row @param {readonly string[]} columns */
function describe(results, columns) {
  const cells = columns.map((column) => cellText(results.filter((result) => result.column === column)))
  if (new Set(cells).size === 1) return cells[0] ?? ''
  if (cells.every((cell) => cell === '✓' || cell === 'no'))
    return columns.filter((_, at) => cells[at] === '✓').join(', ')
  return columns.map((column, at) => `${column} ${cells[at]}`).join(', ')
}

/** @param {readonly Result[]} results of one row and column, by kind */
function cellText(results) {
  const signs = new Set(results.map(sign))
  if (signs.size <= 1) return [...signs][0] ?? '✗ not run'
  return results.map((result) => `${result.kind} ${sign(result)}`).join(', ')
}

/** @param {Result} result */
function sign({ outcome, arrived, wrong }) {
  if (outcome === 'works') return '✓'
  if (wrong !== undefined) return `✗ ${wrong.join(', ')}`
  return outcome === 'refused' ? 'no' : `✗ ${arrived} of 1,000`
}
