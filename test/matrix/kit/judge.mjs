/** Runs one application with its own service, and reports the outcome of its records. */
import { join } from 'node:path'
import { createIngestService } from 'pino-ingest/service'

const RECORDS = 1000
const KEY = 'matrix-key'
/** The wait after the end of the application, for requests in flight. */
let counted = 0

/** @param {import('./types.d.mts').Kit} kit @param {import('./types.d.mts').Cell} cell @returns {Promise<Omit<import('./types.d.mts').Result, 'group'>>} */
export async function judge(kit, cell) {
  const service = await createIngestService({ apiKeys: [KEY] })
  counted += 1
  const env = {
    PINO_INGEST_URL: service.url,
    PINO_INGEST_API_KEY: KEY,
    PINO_INGEST_SPOOL_DIR: join(kit.scratch, 'spool', String(counted)),
    ...cell.env,
  }
  try {
    const run = cell.drive
      ? await cell.drive(env, service)
      : await kit.run(cell.command ?? [], { cwd: cell.cwd ?? kit.scratch, env })
    if (cell.compare !== undefined) return { ...named(cell), ...compared(run, service, cell.compare(service)) }
    const numbers = service.entries({ limit: 2 * RECORDS }).items.map(({ entry }) => entry.metadata?.['n'])
    return { ...named(cell), arrived: new Set(numbers).size, ...verdict(cell, run, numbers) }
  } catch (error) {
    return { ...named(cell), arrived: 0, outcome: 'failed', detail: String(error) }
  } finally {
    await service.close()
  }
}

/** @param {import('./types.d.mts').Cell} cell */
function named({ table, row, column, kind, takes }) {
  return { table, row, column, ...(kind && { kind }), ...(takes && { takes }) }
}

/** @param {import('./types.d.mts').Run} run @param {import('pino-ingest/service').IngestService} service @param {Readonly<Record<string, readonly string[]>>} problems */
function compared(run, service, problems) {
  const arrived = service.entries({ limit: RECORDS }).items.length
  // Express prints the errors of its handlers, so only our own lines count.
  const complaint = run.stderr.split('\n').find((line) => line.startsWith('pino-ingest'))
  const own = run.code !== 0 ? `exit code ${run.code}: ${run.stderr}${run.stdout}` : complaint
  const wrong = Object.keys(problems).filter((aspect) => problems[aspect]?.length !== 0)
  const row = Object.keys(problems)
    .map((aspect) => `${aspect} ${wrong.includes(aspect) ? '✗' : '✓'}`)
    .join('  ')
  if (wrong.length === 0 && own === undefined) return { outcome: /** @type {const} */ ('works'), arrived, detail: row }
  const reasons = wrong.flatMap((aspect) => (problems[aspect] ?? []).map((reason) => `    ${aspect}: ${reason}`))
  const detail = [...(own === undefined ? [] : [own]), row, ...reasons].join('\n')
  return { outcome: /** @type {const} */ ('failed'), arrived, wrong, detail }
}

/** @param {import('./types.d.mts').Cell} cell @param {import('./types.d.mts').Run} run @param {unknown[]} numbers */
function verdict(cell, run, numbers) {
  const printed = run.stderr + run.stdout
  if (cell.refuses !== undefined) {
    const line = printed.split('\n').find((one) => cell.refuses?.test(one))
    const failed = (/** @type {string} */ detail) => ({ outcome: /** @type {const} */ ('failed'), detail })
    if (line === undefined) return failed(`not rejected with ${cell.refuses}, code ${run.code}: ${printed}`)
    if (numbers.length > 0) return failed(`rejected, but ${numbers.length} records arrived`)
    if (run.code === 0) return failed(`rejected, but with code 0: ${line}`)
    return { outcome: /** @type {const} */ ('refused'), detail: line.trim() }
  }
  const missing = Array.from({ length: RECORDS }, (_, n) => n).filter((n) => !numbers.includes(n)).length
  const wrong = [
    run.code !== 0 && `exit code ${run.code}`,
    missing > 0 && `${missing} of ${RECORDS} did not arrive`,
    numbers.length - (RECORDS - missing) > 0 && `${numbers.length - (RECORDS - missing)} too many`,
    run.stderr.replace(cell.allowedStderr ?? /^$/, '').trim() !== '' && 'stderr is not empty',
  ].filter((one) => typeof one === 'string')
  return wrong.length === 0
    ? { outcome: /** @type {const} */ ('works') }
    : { outcome: /** @type {const} */ ('failed'), detail: `${wrong.join(', ')}\n${printed.slice(-4000)}` }
}
