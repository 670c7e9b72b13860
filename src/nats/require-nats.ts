/** Checks at startup that the NATS client, an optional peer dependency, is installed if `nats` is set. */
import type { Settings } from '../options/settings.js'
import { IngestError } from '../shared/errors.js'
import isNatsInstalled from './is-nats-installed.cjs'

const PACKAGES = ['@nats-io/transport-node', '@nats-io/jetstream']
/** Later versions depend on a package that needs Node 22. */
const NODE_20_VERSION = '3.3.1'

/** @throws IngestError `CONFIG` with the install command */
export function requireNats({
  nats,
  enabled = true,
}: Pick<Settings, 'nats'> & Partial<Pick<Settings, 'enabled'>>): void {
  // A disabled transport sends nothing and needs no client.
  if (nats === undefined || !enabled || isNatsInstalled()) return
  throw createMissingError('nats', PACKAGES)
}

/** @param what needs the packages */
export function createMissingError(what: string, packages: readonly string[]): IngestError {
  const isNode20 = process.versions.node.startsWith('20.')
  const install = packages.map((name) => (isNode20 ? `${name}@${NODE_20_VERSION}` : name)).join(' ')
  return new IngestError('CONFIG', `${what} needs ${packages.join(' and ')}; install: npm install ${install}`)
}
