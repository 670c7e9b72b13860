/** `pino-ingest doctor`: step by step from the configuration to the service's reply. */
import { readFileSync } from 'node:fs'
import { systemClock } from '../../shared/clock.js'
import type { Settings } from '../../options/resolve-options.js'
import { createSecretMask } from '../../diagnostics/secret-mask.js'
import { EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import type { Check } from './doctor-check.js'
import { checkKeyUse, checkOptions, checkVariables, describeRuntime, OPTIONS_IN_CODE } from './check-configuration.js'
import { checkLocal } from './check-local.js'
import { checkReply } from './check-reply.js'
import { checkConnectivity } from './check-connectivity.js'
import { KEY_NOTE, OPTION_FLAGS, parseOptionFlags } from '../shared/option-flags.js'
import { formatJsonLine, printable } from '../shared/printable.js'

export const doctorCommand: Command = {
  summary:
    'Checks configuration, spool folder, beforeSend, reachability and key, and says what to mend. Nothing is stored: it sends an empty batch.',
  usage: ['pino-ingest doctor [FLAGS]'],
  flags: { url: OPTION_FLAGS.url },
  notes: [
    KEY_NOTE,
    'With --json it prints a list of checks {"name", "ok", "detail", "fix"?}; one that is ok and has a fix is a warning.',
    'Exit codes: 0 all is well (warnings are), 1 something is to be mended, 2 wrong flags.',
  ],
  jsonFailuresTo: 'stdout',
  run,
}

async function run(given: Arguments): Promise<number> {
  const { env } = process
  const { check, settings } = checkOptions(parseOptionFlags(given), {
    env,
    readFile: (path) => readFileSync(path, 'utf8'),
  })
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
  // A reply may quote the key, and so may the error of a module.
  const mask = createSecretMask(settings.givenKeys.map((key) => key.reveal()))
  const local = await checkLocal(settings)
  const way = await checkConnectivity(settings)
  const reply = way.every(({ ok }) => ok) ? await checkReply(settings, mask, () => systemClock.wallNow()) : []
  return [...local, ...way, ...reply].map((check) => ({
    ...check,
    detail: mask(check.detail),
    ...(check.fix !== undefined && { fix: mask(check.fix) }),
  }))
}

function formatChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines = checks.map(({ name, ok, detail, fix }) => {
    const mark = ok ? (fix === undefined ? 'ok  ' : 'warn') : 'FAIL'
    const mend = fix === undefined ? '' : `${' '.repeat(width + 6)}-> ${printable(fix)}\n`
    return `${mark}  ${name.padEnd(width)}  ${printable(detail)}\n${mend}`
  })
  const failed = checks.filter(({ ok }) => !ok).length
  const warnings = checks.filter(({ ok, fix }) => ok && fix !== undefined).length
  const but = warnings === 0 ? '' : `, but for ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
  const end =
    failed === 0
      ? `All is well${but}.`
      : `${failed === 1 ? '1 problem; checks that depend on it' : `${failed} problems; checks that depend on them`} were skipped.`
  return `${lines.join('')}\n${end}\n`
}
