/**
 * Node version check, run first by every entry point, so an unsupported Node fails with a clear message. The imports of
 * an ES module are linked before any is evaluated, so no file may import names that the builtin modules of an older
 * Node lack.
 */

/**
 * Lowest supported versions, as in `engines` in package.json; all major versions after the last one are supported. Node
 * 21 is not: it reached end of life without `zlib.crc32`, which the spool needs.
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

/** @returns the problem with its remedy; undefined for a supported runtime */
export function findNodeVersionProblem({ node, bun, deno }: RuntimeVersions): string | undefined {
  // Bun and Deno report the Node version that they emulate.
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
