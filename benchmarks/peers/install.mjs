/**
 * Installs the peers from the package registry, each at a fixed version, in a folder outside the tree that is reused
 * by later runs.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The newest version of each at the time of writing. Fixed, because a number without a version cannot be verified. */
export const VERSIONS = {
  'pino-loki': '3.0.0',
  'pino-elasticsearch': '9.0.0',
  'pino-opentelemetry-transport': '4.0.2',
  '@axiomhq/pino': '2.0.0',
  '@logtail/pino': '0.5.9',
  'pino-datadog-transport': '3.0.6',
}

/** @typedef {keyof typeof VERSIONS} PeerName */
/** @typedef {{ name: PeerName, version: string, target: string }} Installed */

/**
 * Of all six, pino-elasticsearch used the least CPU on all shapes cold, and it or pino-loki on small records warm; the
 * other shapes were not measured warm with all six. The third is neither the fastest nor the most stable on every
 * shape: @axiomhq/pino uses less CPU on cold small records and errors, but in some runs sends each record alone, at 20
 * times the cost.
 */
const COMPARED = /** @type {readonly PeerName[]} */ ([
  'pino-loki',
  'pino-elasticsearch',
  'pino-opentelemetry-transport',
])

/** @param {(line: string) => void} showProgress @returns {Installed[]} the compared peers, without those that could not be installed */
export function installPeers(showProgress) {
  // pino is a peer dependency of some. It is listed to avoid another version than ours; nothing loads it.
  const pino = pinoVersion()
  const specifiers = COMPARED.map((name) => `${name}@${VERSIONS[name]}`)
  const hash = createHash('sha256')
    .update([...specifiers, pino].join(' '))
    .digest('hex')
    .slice(0, 12)
  const folder = join(tmpdir(), `pino-ingest-bench-peers-${hash}`)
  const isThere = (/** @type {PeerName} */ name) => versionIn(folder, name) === VERSIONS[name]
  if (!COMPARED.every(isThere)) {
    mkdirSync(folder, { recursive: true })
    if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
    showProgress(`installing ${COMPARED.length} peers into a scratch folder`)
    // All at once, and one by one if that fails, so that a missing package does not prevent the others.
    if (!install(folder, [...specifiers, `pino@${pino}`])) {
      for (const specifier of specifiers)
        if (!install(folder, [specifier, `pino@${pino}`]))
          showProgress(`${specifier} could not be installed and is skipped`)
    }
  }
  const { resolve } = createRequire(join(folder, 'package.json'))
  return COMPARED.filter(isThere).map((name) => ({ name, version: VERSIONS[name], target: resolve(name) }))
}

/** The version that this tree is tested with. @returns {string} */
export function pinoVersion() {
  return JSON.parse(readFileSync(new URL('../../node_modules/pino/package.json', import.meta.url), 'utf8')).version
}

/** @param {string} folder @param {readonly string[]} specifiers @returns {boolean} whether npm succeeded */
export function install(folder, specifiers) {
  try {
    const args = [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--save-exact',
      '--loglevel=error',
      ...specifiers,
    ]
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
    return true
  } catch {
    return false // npm has printed the reason
  }
}

/** @param {string} folder @param {string} name @returns {string | undefined} */
function versionIn(folder, name) {
  const file = join(folder, 'node_modules', name, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}
