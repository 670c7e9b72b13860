/**
 * Installs each package alone with pino in a folder outside the tree, as a user would. Peers are reused by later
 * runs.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSIONS, install, pinoVersion } from '../peers/install.mjs'

/**
 * @typedef {object} Folder
 * @property {string} name of the package
 * @property {string} version
 * @property {string} path
 * @property {string} [tarball] as published to the registry
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const APP = fileURLToPath(new URL('./app.mjs', import.meta.url))

/**
 * @param {(line: string) => void} showProgress @returns {Folder[]} pino alone, ours, and the peers, without those that could
 *   not be installed
 */
export function installEach(showProgress) {
  const base = join(tmpdir(), 'pino-ingest-bench-start')
  const pino = { name: 'pino', version: pinoVersion(), path: placeOf(base, `pino@${pinoVersion()}`) }
  if (!existsSync(pino.path) && !fill(pino.path, []))
    throw new Error('pino could not be installed, and without it nothing can be measured')
  const peers = Object.entries(VERSIONS).map(([name, version]) => ({
    name,
    version,
    path: placeOf(base, `${name}@${version} pino@${pinoVersion()}`),
  }))
  const there = peers.filter(({ name, version, path }) => {
    if (existsSync(path)) return true
    showProgress(`installing ${name}@${version} into a scratch folder`)
    if (fill(path, [`${name}@${version}`])) return true
    showProgress(`${name}@${version} could not be installed and is skipped`)
    return false
  })
  showProgress('installing pino-ingest from its tarball into a scratch folder')
  const ours = { name: 'pino-ingest', version: ownVersion(), path: join(base, 'ours') }
  rmSync(ours.path, { recursive: true, force: true })
  // Packs the existing build, which the npm scripts would build again.
  if (!fill(ours.path, [ROOT])) throw new Error('pino-ingest could not be packed and installed; is it built?')
  return [pino, ours, ...there].map((folder) => {
    copyFileSync(APP, join(folder.path, 'app.mjs'))
    const tarball = readdirSync(folder.path).find((name) => name.endsWith('.tgz'))
    return tarball === undefined ? folder : { ...folder, tarball: join(folder.path, tarball) }
  })
}

function ownVersion() {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
}

/** @param {string} base @param {string} specifiers */
function placeOf(base, specifiers) {
  return join(base, createHash('sha256').update(specifiers).digest('hex').slice(0, 12))
}

/**
 * Built in a temporary folder, and moved to its place when it is complete. @param {string} path @param {readonly
 * string[]} packages arguments of `npm pack`
 */
function fill(path, packages) {
  const unfinished = `${path}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  writeFileSync(join(unfinished, 'package.json'), '{"private":true}\n')
  try {
    for (const one of packages) {
      execFileSync('npm', ['pack', '--ignore-scripts', '--loglevel=error', one], {
        cwd: unfinished,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    }
  } catch {
    return false // npm has printed the reason
  }
  const tarballs = readdirSync(unfinished).filter((name) => name.endsWith('.tgz'))
  if (!install(unfinished, [...tarballs.map((name) => `./${name}`), `pino@${pinoVersion()}`])) return false
  renameSync(unfinished, path)
  return true
}
