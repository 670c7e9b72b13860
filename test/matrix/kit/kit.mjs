/** Scratch folders, installs, runtimes. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exec, runProgram } from './processes.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const APPS = new URL('../apps/', import.meta.url)
const { platform, arch } = process

/** @returns {import('./types.d.mts').Kit} */
export function createKit() {
  const scratch = mkdtempSync(join(tmpdir(), 'pino-ingest-matrix-'))
  const [{ filename }] = JSON.parse(
    exec(['npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', scratch], { cwd: root }),
  )
  const tarball = join(scratch, filename)
  /** Installs runtimes from the npm registry without install scripts, which download from elsewhere. */
  const program = (/** @type {string} */ name, /** @type {string} */ version, /** @type {string} */ file) => {
    const folder = join(scratch, 'programs', `${name.replace('/', '-')}-${version}`)
    if (!existsSync(folder)) {
      makeFolder(folder)
      install(folder, [`${name}@${version}`])
    }
    return join(folder, 'node_modules', name, file)
  }
  return {
    tarball,
    scratch,
    folder: (name, packageJson) => makeFolder(join(scratch, name), packageJson),
    install,
    node: (version) => program(`node-${platform === 'win32' ? 'win' : platform}-${arch}`, version, 'bin/node'),
    bun: (version) => program(`@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`, version, 'bin/bun'),
    deno: (version) => program(`@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`, version, 'deno'),
    versionIn: (folder, name) =>
      JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version,
    copyApp: (name, folder) => cpSync(new URL(name, APPS), folder, { recursive: true }),
    exec,
    run: runProgram,
  }
}

/** @param {string} folder @param {object} [packageJson] */
function makeFolder(folder, packageJson) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'app', version: '1.0.0', private: true, ...packageJson }, undefined, 2),
  )
  return folder
}

/** @param {string} folder @param {readonly string[]} specifiers */
function install(folder, specifiers) {
  exec(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...specifiers], {
    cwd: folder,
  })
}
