/** A checked part of a setup, its result and advice. */
import { formatCount, toPrintable } from './terminal.js'

export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** Advice. A check with `ok` true and a fix is a warning. */
  readonly fix?: string
}

export function pass(name: string, detail: string, fix?: string): Check {
  return { name, ok: true, detail, ...(fix !== undefined && { fix }) }
}

export function fail(name: string, detail: string, fix: string): Check {
  return { name, ok: false, detail, fix }
}

export function formatChecks(checks: readonly Check[]): string {
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
