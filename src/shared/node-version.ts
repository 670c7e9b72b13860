/**
 * Evaluated first by every door: on a Node that is too old it throws, before anything else can fail for a reason that
 * tells nobody what to do. An ES module's imports are linked before any is evaluated, so no file imports by name what a builtin
 * of an older Node lacks.
 */

/**
 * The lowest version of a line, and all lines from the last on: as `engines` in package.json, which a test compares. 21 is not among
 * them: it ended before it got `zlib.crc32`, which the spool needs.
 */
const LOWEST: readonly (readonly [major: number, minor: number])[] = [
  [20, 19],
  [22, 12],
]

/** As `process.versions`. */
export interface RuntimeVersions {
  readonly node?: string | undefined
  readonly bun?: string | undefined
  readonly deno?: string | undefined
}

/** @returns what is wrong with this engine, and what to do; undefined for one that will do. */
export function findNodeVersionProblem({ node, bun, deno }: RuntimeVersions): string | undefined {
  // What these call their Node version is the one that they imitate.
  if (node === undefined || bun !== undefined || deno !== undefined || isSupported(node)) return undefined
  return `pino-ingest needs Node 20.19 or a later 20, or Node 22.12 or later; this is Node ${node}. Update Node (https://nodejs.org/en/download), or run this program with a newer one.`
}

function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const newest = LOWEST.at(-1)?.[0] ?? 0
  return LOWEST.some(([line, lowest]) => major === line && minor >= lowest) || major > newest
}

const problem = findNodeVersionProblem(process.versions)
if (problem !== undefined) throw Object.assign(new Error(problem), { code: 'ENGINE' })
