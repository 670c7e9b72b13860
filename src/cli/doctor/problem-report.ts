/** The text of `doctor --report`: what a report of a problem needs, in Markdown, without secrets and without entries. */
import { createRequire } from 'node:module'
import { arch, platform, release } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../shared/clock.js'
import { inspectRoot, summarizeUnsettled } from '../../spool/inspect.js'
import type { FoundDestination, FoundInstance } from '../../spool/inspect.js'
import { readMachine } from '../../spool/instance/ownership.js'
import { VERSION } from '../../version.js'
import { parseDeadLetter, readLines } from '../spool/read-dead-letters.js'
import { toPrintable } from '../shared/printable.js'
import { formatCount, formatEntryCount, formatSize } from '../shared/terminal-format.js'
import type { Check } from '../shared/check.js'

export interface ReportOptions {
  readonly checks: readonly Check[]
  /** Options that are set, with values and origins; secrets only as `set`. */
  readonly options: readonly string[]
  /** Folder of the spool. */
  readonly root: string
  /** Removes secrets. */
  readonly mask: (text: string) => string
}

type Row = readonly string[]

/** Never rejects for a spool that cannot be read. */
export async function createReport({ checks, options, root, mask }: ReportOptions): Promise<string> {
  const spool = await describeSpool(root)
  const sections = [
    '# pino-ingest problem report',
    formatTable(['version', ''], describeVersions()),
    '## Configuration',
    options.length === 0 ? 'All options have their defaults.' : options.map((line) => `- ${line}`).join('\n'),
    '## Checks',
    formatTable(
      ['result', 'check', 'detail', 'advice'],
      checks.map(({ name, ok, detail, fix }) => [
        !ok ? 'FAIL' : fix === undefined ? 'ok' : 'warn',
        name,
        detail,
        fix ?? '',
      ]),
    ),
    `## Spool\n\n${root}`,
    spool.state,
    '## Rejected entries',
    spool.failures,
  ]
  return `${mask(sections.join('\n\n'))}\n`
}

function describeVersions(): Row[] {
  const { node = '', bun, deno } = process.versions
  const runtime = bun === undefined ? (deno === undefined ? 'Node' : `Deno ${deno}`) : `Bun ${bun}`
  return [
    ['pino-ingest', VERSION],
    ['pino', findPinoVersion() ?? 'not found from the working directory'],
    ['Node', node],
    ['runtime', runtime],
    ['system', `${platform()} ${release()} ${arch()}`],
    ['time', new Date(systemClock.wallNow()).toISOString()],
  ]
}

/** The application's pino. */
function findPinoVersion(): string | undefined {
  try {
    const require = createRequire(join(process.cwd(), 'doctor.js'))
    return (require('pino/package.json') as { version?: string }).version
  } catch {
    return undefined
  }
}

async function describeSpool(root: string): Promise<{ readonly state: string; readonly failures: string }> {
  let found: readonly FoundDestination[]
  try {
    found = inspectRoot(root, { machine: readMachine(), wallNowMs: systemClock.wallNow() })
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const state = isMissing ? 'The folder does not exist.' : `Cannot be read: ${toPrintable((error as Error).message)}`
    return { state, failures: 'Unknown.' }
  }
  const instances = await Promise.all(found.flatMap((one) => one.instances).map(describeInstance))
  const failures = found.flatMap(listFailures)
  return {
    state:
      instances.length === 0
        ? 'No entries are stored.'
        : formatTable(['destination', 'folder', 'state', 'segments', 'size', 'not settled', 'damage'], instances),
    failures:
      failures.length === 0
        ? 'No rejected entries are stored.'
        : formatTable(['destination', 'status', 'code', 'entries', 'latest'], failures),
  }
}

async function describeInstance(instance: FoundInstance): Promise<Row> {
  const { destination, name, state, segments, bytes } = instance
  const { batches, entries, damagedBytes, missingEntries, problems } = await summarizeUnsettled(instance)
  const damage = [
    ...(damagedBytes > 0 ? [`${damagedBytes} bytes`] : []),
    ...(missingEntries > 0 ? [`${formatEntryCount(missingEntries)} missing`] : []),
    ...problems,
  ]
  const left = `${formatEntryCount(entries)} in ${formatCount(batches, 'batch', 'batches')}`
  return [destination, name, state, String(segments.length), formatSize(bytes), left, damage.join('; ')]
}

/** Rejected entries by status and code, the latest first. The service's reason may quote the entry, so it is left out. */
function listFailures({ name, deadLetters }: FoundDestination): Row[] {
  const groups = new Map<string, { readonly status: number; readonly code: string; count: number; at: string }>()
  for (const { path } of deadLetters) {
    let lines: readonly Buffer[] = []
    try {
      lines = readLines(path)
    } catch (error) {
      groups.set(path, { status: 0, code: (error as NodeJS.ErrnoException).code ?? 'unreadable', count: 0, at: '' })
    }
    for (const letter of lines.map(parseDeadLetter)) {
      if (letter === undefined) continue
      const { status, code, at } = letter
      const key = `${status} ${code}`
      const group = groups.get(key) ?? { status, code, count: 0, at }
      groups.set(key, { ...group, count: group.count + 1, at: at > group.at ? at : group.at })
    }
  }
  return [...groups.values()]
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .map(({ status, code, count, at }) => [name, String(status), code, String(count), at])
}

function formatTable(head: Row, rows: readonly Row[]): string {
  const format = (cells: Row): string =>
    `| ${cells.map((cell) => toPrintable(cell).replaceAll('|', '\\|')).join(' | ')} |`
  return [format(head), format(head.map(() => '---')), ...rows.map(format)].join('\n')
}
