/** The questions: each is a folder with a `question.mjs`. */
import { existsSync, readdirSync } from 'node:fs'
import { ON_PAGES } from './pages.mjs'

/**
 * @typedef {{ options: Record<string, number>, showProgress: (line: string) => void }} Asked `showProgress` writes a line to stderr
 * @typedef {{
 *   name: string, asks: string, needsLinux?: boolean, options: Record<string, number>, quick?: Record<string, number>,
 *   measure: (asked: Asked) => Promise<any>, lines: (result: any) => string[], charts?: (result: any) => Record<string, import('./chart.mjs').Chart>,
 * }} Question
 */

/** The questions whose numbers the pages show come first, then comparisons with other transports, then all others. */
const ORDER = [...ON_PAGES, 'network', 'pipe', 'outage', 'failures', 'cost', 'profile', 'processes', 'service']

/** @param {URL} root @returns {Promise<{ questions: Question[], broken: Map<string, unknown> }>} broken: those that cannot be loaded, and why */
export async function loadQuestions(root) {
  /** @type {Question[]} */
  const questions = []
  /** @type {Map<string, unknown>} */
  const broken = new Map()
  for (const name of foldersOf(root)) {
    try {
      questions.push((await import(fileOf(root, name).href)).question)
    } catch (error) {
      broken.set(name, error)
    }
  }
  return { questions: questions.toSorted((a, b) => place(a.name) - place(b.name)), broken }
}

/** @param {URL} root @returns {string[]} */
export function foldersOf(root) {
  return readdirSync(root)
    .filter((name) => existsSync(fileOf(root, name)))
    .toSorted()
}

/** @param {URL} root @param {string} name */
function fileOf(root, name) {
  return new URL(`./${name}/question.mjs`, root)
}

/** @param {string} name */
function place(name) {
  const at = ORDER.indexOf(name)
  return at === -1 ? ORDER.length : at
}
