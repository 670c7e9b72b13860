/** `pino-ingest doctor`: checks the setup from the configuration to the log service's reply. */
import { systemClock } from '../../shared/clock.js'
import { readRegularFile } from '../../shared/safe-files.js'
import type { Settings } from '../../options/resolve-options.js'
import { createSecretMask } from '../../diagnostics/secret-mask.js'
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatChecks } from '../shared/check.js'
import type { Check } from '../shared/check.js'
import { checkKeyUse, checkOptions, checkVariables, describeRuntime, OPTIONS_IN_CODE } from './check-configuration.js'
import { checkLocal } from './check-local.js'
import { checkNats, HTTP_SKIPPED } from './check-nats.js'
import { checkReply } from './check-reply.js'
import { createReport } from './problem-report.js'
import { KEY_NOTE, OPTION_FLAGS, parseOptionFlags } from '../shared/option-flags.js'
import { formatJsonLine } from '../shared/terminal.js'

export const doctorCommand: Command = {
  examples: [
    ['npx pino-ingest doctor', 'checks the configuration of this shell'],
    ['npx pino-ingest doctor --report > report.md', 'writes a text for a problem report, without secrets'],
  ],
  flags: {
    url: OPTION_FLAGS.url,
    report: { meaning: 'prints a text for a problem report: versions, configuration, checks, spool; no secrets' },
  },
  notes: [
    'It sends an empty batch, which stores nothing. With PINO_INGEST_NATS_SERVERS it checks NATS JetStream instead of the log service.',
    KEY_NOTE,
    'With --json, it prints a list of checks {"name", "ok", "detail", "fix"?}; a check with ok true and a fix is a warning.',
    'Exit codes: 0 no problems, 1 problems, 2 invalid flags or configuration.',
  ],
  run,
}

async function run(given: Arguments): Promise<number> {
  const { env } = process
  const options = parseOptionFlags(given)
  const { check, settings } = checkOptions(options, { env, readFile: readRegularFile, requiresUrl: true })
  const before = [
    describeRuntime(process.versions),
    ...checkVariables(env),
    OPTIONS_IN_CODE,
    check,
    ...checkKeyUse(settings),
  ]
  const keys = [env['PINO_INGEST_API_KEY'] ?? '', ...(settings?.secrets.map((key) => key.reveal()) ?? [])]
  const checks = [...before, ...(settings === undefined ? [] : await checkSettings(settings))]
  process.stdout.write(
    given.switches.has('json')
      ? formatJsonLine(checks)
      : given.switches.has('report')
        ? await createReport(given, checks, createSecretMask(keys))
        : formatChecks(checks),
  )
  if (settings === undefined) return EXIT_USAGE
  return checks.every(({ ok }) => ok) ? EXIT_DONE : EXIT_FAILED
}

async function checkSettings(settings: Settings): Promise<Check[]> {
  // The reply, or an error of the beforeSend module, may quote the key.
  const mask = createSecretMask(settings.secrets.map((key) => key.reveal()))
  const wallNow = (): number => systemClock.wallNow()
  const { nats } = settings
  const remote =
    nats === undefined
      ? await checkReply(settings, mask, wallNow)
      : [...(await checkNats({ ...settings, nats }, wallNow)), HTTP_SKIPPED]
  const checks = [...(await checkLocal(settings)), ...remote]
  return checks.map((check) => ({
    ...check,
    detail: mask(check.detail),
    ...(check.fix !== undefined && { fix: mask(check.fix) }),
  }))
}
