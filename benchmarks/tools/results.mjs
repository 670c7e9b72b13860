/** Stored results, with the machine, versions, commit and date of each. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { svgOf } from './chart.mjs'

/**
 * @typedef {ReturnType<typeof import('./surroundings.mjs').surroundings> & {
 *   question: string, asks: string, options: Record<string, number>, seconds?: number, result: any }} Kept
 */

/** @param {string} folder @param {string} name @param {Kept} kept @returns {string} the file */
export function writeResult(folder, name, kept) {
  const file = fileOf(folder, name)
  writeFileSync(file, `${linesOf(kept)}\n`)
  return file
}

/** JSON with one line per row of a table, at any depth up to 4. @param {unknown} value @param {string} [indent] @returns {string} */
function linesOf(value, indent = '') {
  if (typeof value !== 'object' || value === null || indent.length > 6) return JSON.stringify(value)
  const inner = `${indent}  `
  const [open, lines, close] = Array.isArray(value)
    ? ['[', value.map((row) => JSON.stringify(row)), ']']
    : ['{', Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}: ${linesOf(of, inner)}`), '}']
  return lines.length === 0 ? open + close : `${open}\n${inner}${lines.join(`,\n${inner}`)}\n${indent}${close}`
}

/** @param {string} folder @param {string} name @returns {Kept | undefined} */
export function readResult(folder, name) {
  const file = fileOf(folder, name)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** @param {string} folder @param {string} name of the question @param {Record<string, import('./chart.mjs').Chart>} charts by file @param {string} footer */
export async function drawCharts(folder, name, charts, footer) {
  for (const [file, chart] of Object.entries(charts)) {
    if (basename(file) !== file || !file.startsWith(name) || !file.endsWith('.svg'))
      throw new RangeError(`a chart of ${name} must be called ${name}*.svg, not ${file}`)
    writeFileSync(join(folder, file), await svgOf(chart, footer))
  }
}

/** The question, and where it was measured. @param {Kept} kept @returns {string[]} */
export function headOf(kept) {
  return [
    `${kept.question}: ${kept.asks}`,
    footerOf(kept),
    Object.entries(kept.options)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  ]
}

/** @param {Kept} kept */
export function footerOf({ machine, versions, commit, date }) {
  const { cpu, cores, memoryGib, platform } = machine
  return [
    `${cpu}, ${cores} cores, ${memoryGib} GiB, ${platform}`,
    `Node ${versions.node}, pino ${versions.pino}, undici ${versions.undici}`,
    commit === null ? 'no commit' : `commit ${commit}`,
    date,
  ].join(' · ')
}

/** @param {string} folder @param {string} name */
function fileOf(folder, name) {
  return join(folder, `${name}.json`)
}
