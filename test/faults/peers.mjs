/** Installs the peer transports into a separate folder. Each runs with its default configuration. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Sets only the destination; all other options have their defaults.
 * @type {Readonly<Record<string, (origin: string) => { options: object, env?: Record<string, string> }>>}
 */
const CONFIGURATIONS = {
  'pino-loki': (origin) => ({ options: { host: origin } }),
  '@logtail/pino': (origin) => ({ options: { sourceToken: 'token', options: { endpoint: origin } } }),
  '@axiomhq/pino': (origin) => ({ options: { dataset: 'app', token: 'token', url: origin } }),
  'pino-datadog-transport': (origin) => ({
    options: {
      // Only the address of its second server can be set.
      ddClientConf: { authMethods: { apiKeyAuth: 'key' }, serverIndex: 1 },
      ddServerConf: { protocol: 'http', name: new URL(origin).host },
    },
  }),
  'pino-elasticsearch': (origin) => ({ options: { node: origin } }),
  'pino-opentelemetry-transport': (origin) => ({
    options: { loggerName: 'app', serviceVersion: '1.0.0' },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: origin },
  }),
}

/** @typedef {{ name: string, version: string | undefined, target: string, configure: (origin: string) => { options: object, env?: Record<string, string> } }} Subject */

const FOLDER = join(tmpdir(), 'pino-ingest-fault-peers')
const load = createRequire(join(FOLDER, 'package.json'))

export const PEERS = Object.keys(CONFIGURATIONS)

/** @param {readonly string[]} names @param {(line: string) => void} printLine @returns {Subject[]} those that could not be installed have no version */
export function installPeers(names, printLine) {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true}\n')
  if (names.some((name) => versionOf(name) === undefined)) {
    printLine(`installing ${names.length} peers into ${FOLDER}`)
    // All together; if that fails, one by one, since a single missing package fails the whole install.
    if (!install(names)) for (const name of names) if (!install([name])) printLine(`${name} could not be installed`)
  }
  return names.map((name) => ({
    name,
    version: versionOf(name),
    target: versionOf(name) === undefined ? '' : load.resolve(name),
    configure: /** @type {Subject['configure']} */ (CONFIGURATIONS[name]),
  }))
}

/** @param {readonly string[]} names */
function install(names) {
  try {
    // No --no-save: an install removes packages that are not in package.json.
    execFileSync('npm', ['install', '--no-audit', '--no-fund', 'pino@10', ...names], {
      cwd: FOLDER,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    return true
  } catch {
    return false // npm has printed the reason
  }
}

/** @param {string} name */
function versionOf(name) {
  const file = join(FOLDER, 'node_modules', name, 'package.json')
  return existsSync(file) ? /** @type {string} */ (JSON.parse(readFileSync(file, 'utf8')).version) : undefined
}
