/** `pino-ingest doctor`: checks the setup from the configuration to the service's reply. */
import { systemClock } from '../../shared/clock.js'
import { readRegularFile } from '../../shared/safe-files.js'
import type { Settings } from '../../options/resolve-options.js'
import { createSecretMask } from '../../diagnostics/secret-mask.js'
import { EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import type { Check } from './doctor-check.js'
import { checkKeyUse, checkOptions, checkVariables, describeRuntime, OPTIONS_IN_CODE } from './check-configuration.js'
import { checkLocal } from './check-local.js'
import { checkNats, HTTP_SKIPPED } from './check-nats.js'
import { checkReply } from './check-reply.js'
import { KEY_NOTE, OPTION_FLAGS, parseOptionFlags } from '../shared/option-flags.js'
import { formatJsonLine, toPrintable } from '../shared/printable.js'
import { formatCount } from '../shared/terminal-format.js'

export const doctorCommand: Command = {
  summary:
    'Checks configuration, spool folder, beforeSend, reachability and key, and shows how to fix problems. It sends an empty batch, which stores nothing. With PINO_INGEST_NATS_SERVERS it checks NATS JetStream instead of the service.',
  usage: ['pino-ingest doctor [FLAGS]'],
  flags: { url: OPTION_FLAGS.url },
  notes: [
    KEY_NOTE,
    'With --json, it prints a list of checks {"name", "ok", "detail", "fix"?}; a check with ok true and a fix is a warning.',
    'Exit codes: 0 no problems, 1 problems, 2 invalid flags.',
  ],
  jsonFailuresTo: 'stdout',
  run,
}

async function run(given: Arguments): Promise<number> {
  const { env } = process
  const { check, settings } = checkOptions(parseOptionFlags(given), { env, readFile: readRegularFile })
  const before = [
    describeRuntime(process.versions),
    ...checkVariables(env),
    OPTIONS_IN_CODE,
    check,
    ...checkKeyUse(settings),
  ]
  const checks = [...before, ...(settings === undefined ? [] : await checkSettings(settings))]
  process.stdout.write(given.switches.has('json') ? formatJsonLine(checks) : formatChecks(checks))
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

function formatChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines = checks.map(({ name, ok, detail, fix }) => {
    const mark = !ok ? 'FAIL' : fix === undefined ? 'ok  ' : 'warn'
    const advice = fix === undefined ? '' : `${' '.repeat(width + 6)}-> ${toPrintable(fix)}\n`
    return `${mark}  ${name.padEnd(width)}  ${toPrintable(detail)}\n${advice}`
  })
  const failed = checks.filter(({ ok }) => !ok).length
  const warnings = checks.filter(({ ok, fix }) => ok && fix !== undefined).length
  return `${lines.join('')}\n${formatCount(failed, 'problem', 'problems')}, ${formatCount(warnings, 'warning', 'warnings')}.\n`
}
