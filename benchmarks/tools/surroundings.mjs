/** The environment without which a number has no meaning. Contains no host name and no path. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'

export function surroundings() {
  const processors = cpus()
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    machine: {
      platform: `${process.platform} ${process.arch}`,
      cpu: processors[0]?.model ?? 'unknown',
      cores: processors.length,
      memoryGib: Math.round(totalmem() / 2 ** 30),
    },
    versions: {
      node: process.versions.node,
      v8: process.versions.v8,
      pino: version('pino'),
      undici: version('undici'),
    },
  }
}

/** @returns {string | null} null outside a clone */
function commit() {
  try {
    const git = (/** @type {string[]} */ ...args) =>
      execFileSync('git', args, { encoding: 'utf8', cwd: new URL('..', import.meta.url) }).trim()
    const changed = git('status', '--porcelain', '--', '../src') !== ''
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' with changes' : '')
  } catch {
    return null
  }
}

/** @param {string} name */
function version(name) {
  return JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8')).version
}
