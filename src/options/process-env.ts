/** This process's environment, for what lives above the options: they and the command line alone read it. */
import type { Env } from './ci.js'

export function processEnv(): Env {
  return process.env
}
