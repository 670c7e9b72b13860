/** The text of `doctor --report`: what a report of a problem needs, in Markdown, without secrets and without entries. */
import { createRequire } from 'node:module'
import { arch, platform, release } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../shared/clock.js'
import { VERSION } from '../../version.js'
import { formatChecks } from '../shared/check.js'
import type { Check } from '../shared/check.js'
import { CommandError } from '../shared/command.js'
import type { Arguments } from '../shared/command.js'
import { locateSpool } from '../spool/locate-spool.js'
import { formatSpool } from '../spool/spool-ls.js'

/** @param mask removes secrets. Never rejects for a spool that cannot be read */
export async function createReport(
  given: Arguments,
  checks: readonly Check[],
  mask: (text: string) => string,
): Promise<string> {
  const { node, bun, deno } = process.versions
  const versions = {
    'pino-ingest': VERSION,
    pino: findPinoVersion() ?? 'not found from the working directory',
    Node: node,
    runtime: bun === undefined ? (deno === undefined ? 'Node' : `Deno ${deno}`) : `Bun ${bun}`,
    system: `${platform()} ${release()} ${arch()}`,
    time: new Date(systemClock.wallNow()).toISOString(),
  }
  const lines = Object.entries(versions).map(([name, version]) => `${name} ${version}\n`)
  const sections = { Versions: lines.join(''), Checks: formatChecks(checks), Spool: await describeSpool(given) }
  const blocks = Object.entries(sections).map(([title, text]) => `## ${title}\n\n\`\`\`\n${text}\`\`\`\n`)
  return mask(`# pino-ingest problem report\n\n${blocks.join('\n')}`)
}

function findPinoVersion(): string | undefined {
  try {
    const require = createRequire(join(process.cwd(), 'doctor.js'))
    return (require('pino/package.json') as { version?: string }).version
  } catch {
    return undefined
  }
}

async function describeSpool(given: Arguments): Promise<string> {
  try {
    return await formatSpool(locateSpool(given))
  } catch (error) {
    if (error instanceof CommandError) return `${error.message}\n`
    throw error
  }
}
