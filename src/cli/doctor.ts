/** `pino-ingest doctor`: step by step from the configuration to the service's reply. */
import { readFileSync } from 'node:fs'
import { systemClock } from '../shared/clock.js'
import type { Settings } from '../options/resolve-options.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import { EXIT_DONE, EXIT_FAILED } from './command.js'
import type { Arguments, Command } from './command.js'
import type { Check } from './doctor/check.js'
import { checkKeyUse, checkOptions, checkVariables, engineShown, OPTIONS_IN_CODE } from './doctor/configuration.js'
import { checkLocal } from './doctor/local.js'
import { checkReply } from './doctor/reply.js'
import { checkWay } from './doctor/way.js'
import { KEY_NOTE, OPTION_FLAGS, optionsOf } from './option-flags.js'
import { jsonLine, printable } from './printable.js'

export const doctor: Command = {
  summary: 'Checks configuration, spool folder, beforeSend, reachability and key, and says what to mend. Nothing is stored: it sends an empty batch.',
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
  const { check, settings } = checkOptions(optionsOf(given), { env, readFile: (path) => readFileSync(path, 'utf8') })
  const before = [engineShown(process.versions), ...checkVariables(env), OPTIONS_IN_CODE, check, ...checkKeyUse(settings)]
  const checks = [...before, ...(settings === undefined ? [] : await checkSettings(settings))]
  process.stdout.write(given.switches.has('json') ? jsonLine(checks) : textOf(checks))
  return checks.every(({ ok }) => ok) ? EXIT_DONE : EXIT_FAILED
}

async function checkSettings(settings: Settings): Promise<Check[]> {
  // A reply may quote the key, and so may the error of a module.
  const mask = createSecretMask(settings.givenKeys.map((key) => key.reveal()))
  const local = await checkLocal(settings)
  const way = await checkWay(settings)
  const reply = way.every(({ ok }) => ok) ? await checkReply(settings, mask, () => systemClock.wallNow()) : []
  return [...local, ...way, ...reply].map((check) => ({ ...check, detail: mask(check.detail), ...(check.fix !== undefined && { fix: mask(check.fix) }) }))
}

function textOf(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines = checks.map(({ name, ok, detail, fix }) => {
    const mark = ok ? fix === undefined ? 'ok  ' : 'warn' : 'FAIL'
    const mend = fix === undefined ? '' : `${' '.repeat(width + 6)}-> ${printable(fix)}\n`
    return `${mark}  ${name.padEnd(width)}  ${printable(detail)}\n${mend}`
  })
  const failed = checks.filter(({ ok }) => !ok).length
  const warnings = checks.filter(({ ok, fix }) => ok && fix !== undefined).length
  const but = warnings === 0 ? '' : `, but for ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
  const end = failed === 0 ? `All is well${but}.` : `${failed === 1 ? '1 problem; checks that depend on it' : `${failed} problems; checks that depend on them`} were skipped.`
  return `${lines.join('')}\n${end}\n`
}
