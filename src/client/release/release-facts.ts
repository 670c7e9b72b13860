/** [main] Collects the fields of a release: given values, and values from CI, git and package.json. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { IngestError } from '../../shared/errors.js'
import { findCiFacts } from '../../options/ci.js'
import type { Env } from '../../options/ci.js'
import { readResource } from '../../options/resource.js'
import { OptionReader } from '../../options/option-reader.js'
import { findRow, listVariables } from '../../options/option-table.js'
import type { EntryDeploy } from '../../protocol/log-entry.js'
import type { Release } from '../../protocol/resources.js'
import { readGit } from './git.js'

/** Missing and empty fields are detected. */
export type GivenRelease = { [Field in keyof Release]?: Release[Field] | undefined }

export interface ReleaseSources {
  readonly env: Env
  /** Folder of the clone and the package. */
  readonly cwd: string
  /** Version in the application's own package, which its entries have, too. */
  readonly appVersion?: string | undefined
}

const SHORT_COMMIT_CHARS = 7
/** Placeholder version in package.json, used if a tool sets the version at the release. */
const PLACEHOLDER = /^0\.0\.0(?:-|$)/

/**
 * Precedence: given values, then `PINO_INGEST_VERSION` and `PINO_INGEST_DEPLOY_*`, then the CI provider's variables,
 * then git. The version is `service.version` of `OTEL_RESOURCE_ATTRIBUTES`, the application's own, that of the nearest
 * package.json, the tag, or the short commit.
 *
 * @throws IngestError `CONFIG` if no source has a version, or a variable is invalid.
 */
export async function findRelease(given: GivenRelease, { env, cwd, appVersion }: ReleaseSources): Promise<Release> {
  const own = readDeploy(env)
  const [ci, git] = [findCiFacts(env), await readGit(cwd)]
  const commit = findFirst(given.commit_hash, own.commit, ci.commit, git.commit)
  // A branch is valid only together with its own commit.
  const branches = [ci, git].map((facts) =>
    facts.commit === undefined || isSameCommit(facts.commit, commit) ? facts.branch : undefined,
  )
  const branch = findFirst(given.branch, own.branch, ...branches)
  // In CI a machine created the clone, so git has no person.
  const people = Object.keys(ci).length > 0 ? ci.deployed_by : git.deployed_by
  const deployedBy = findFirst(given.deployed_by, own.deployed_by, people)
  const version =
    findFirst(given.version, ...listVariables('version').map((variable) => env[variable]), readResource(env).version) ??
    (await findVersion(cwd, appVersion, ci.tag, commit))
  const { changelog } = given
  return {
    version,
    ...(commit !== undefined && { commit_hash: commit }),
    ...(branch !== undefined && { branch }),
    ...(deployedBy !== undefined && { deployed_by: deployedBy }),
    ...(changelog !== undefined && changelog !== '' && { changelog }),
  }
}

/** The variables of the option `deploy`. */
function readDeploy(env: Env): EntryDeploy {
  const problems: string[] = []
  const read = new OptionReader({ env, readFile: () => '' }, problems).read(findRow('deploy'), 'deploy', {})
  if (problems.length > 0) throw new IngestError('CONFIG', problems.join('; '))
  return (read ?? {}) as EntryDeploy
}

async function findVersion(
  cwd: string,
  appVersion: string | undefined,
  tag: string | undefined,
  commit: string | undefined,
): Promise<string> {
  const packaged = [appVersion, await packageVersion(cwd)]
  const isPlaceholder = (version: string | undefined): boolean => version !== undefined && PLACEHOLDER.test(version)
  const short = /^[\da-f]{40,64}$/.test(commit ?? '') ? commit?.slice(0, SHORT_COMMIT_CHARS) : commit
  const version = findFirst(...packaged.filter((one) => !isPlaceholder(one)), tag, short, ...packaged)
  if (version !== undefined) return version
  throw new IngestError(
    'CONFIG',
    `no version is found for the release: no package.json in ${resolve(cwd)} or above it has a "version", and there is no git commit; give version (--version), or set PINO_INGEST_VERSION`,
  )
}

/** The version of the nearest package.json that has one, within the clone. */
async function packageVersion(cwd: string): Promise<string | undefined> {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const version = versionIn(await readFile(join(folder, 'package.json'), 'utf8').catch(() => ''))
    const isTop = existsSync(join(folder, '.git')) || folder === dirname(folder)
    if (version !== undefined || isTop) return version
  }
}

function versionIn(packageJson: string): string | undefined {
  try {
    const { version } = JSON.parse(packageJson) as { version?: unknown }
    return typeof version === 'string' && version !== '' ? version : undefined
  } catch {
    return undefined // no such file, or one that npm would not accept
  }
}

/** A commit may be abbreviated. */
function isSameCommit(a: string, b: string | undefined): boolean {
  return typeof b === 'string' && (a.startsWith(b) || b.startsWith(a))
}

/** Also returns values that are not strings, because the validation against the interface reports them. */
function findFirst(...values: readonly (string | undefined)[]): string | undefined {
  return values.find((value) => value !== undefined && value !== '')
}
