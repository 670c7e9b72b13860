/** `pino-ingest release`: registers a release, and prints its id for a shell. */
import { withClient } from '../../client/with-client.js'
import { findRelease } from '../../client/release/release-facts.js'
import { EXIT_DONE, createUsageError } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { KEY_NOTE, OPTION_FLAGS, parseOptionFlags, readTextFile } from '../shared/option-flags.js'
import { formatJsonLine, toPrintable } from '../shared/terminal.js'

export const releaseCommand: Command = {
  examples: [
    ['npx pino-ingest release', 'detects version and commit, and prints the id'],
    ['npx pino-ingest release --version 1.4.0 --changelog-file CHANGES.md --json', 'prints what was registered'],
  ],
  flags: {
    version: {
      value: 'VERSION',
      meaning: 'default: PINO_INGEST_VERSION, then package.json, the tag, or the short commit',
    },
    commit: { value: 'HASH', meaning: "default: PINO_INGEST_DEPLOY_COMMIT, then the CI provider's variable, then git" },
    branch: { value: 'NAME', meaning: "default: PINO_INGEST_DEPLOY_BRANCH, then the CI provider's variable, then git" },
    'deployed-by': {
      value: 'NAME',
      meaning:
        "author of the deployment; default: PINO_INGEST_DEPLOY_DEPLOYED_BY, then the CI provider's variable, then git",
    },
    changelog: { value: 'TEXT', meaning: 'what has changed' },
    'changelog-file': { value: 'FILE', meaning: 'reads the changelog from a file; - is stdin' },
    url: OPTION_FLAGS.url,
  },
  notes: [
    KEY_NOTE,
    'It prints the id and nothing else; with --json, one line with release_id and all that was registered.',
    'Exit codes: 0 registered, 1 not registered, 2 invalid flags or configuration, or no version found.',
  ],
  run,
}

async function run(given: Arguments): Promise<number> {
  const { texts } = given
  const found = await withClient(parseOptionFlags(given), async (client) => {
    const registered = await findRelease(
      {
        version: texts.get('version'),
        commit_hash: texts.get('commit'),
        branch: texts.get('branch'),
        deployed_by: texts.get('deployed-by'),
        changelog: await readChangelog(given),
      },
      { env: process.env, cwd: process.cwd() },
    )
    return { ...(await client.registerRelease(registered)), ...registered }
  })
  process.stdout.write(given.switches.has('json') ? formatJsonLine(found) : `${toPrintable(found.release_id)}\n`)
  return EXIT_DONE
}

async function readChangelog({ texts }: Arguments): Promise<string | undefined> {
  const [text, file] = [texts.get('changelog'), texts.get('changelog-file')]
  if (text !== undefined && file !== undefined) throw createUsageError('give either --changelog or --changelog-file')
  return file === undefined ? text : readTextFile(file, 'changelog-file')
}
