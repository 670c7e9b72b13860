/** This process's environment. Only the options and the command line read it. */
import type { Env } from './ci.js'

export function readProcessEnv(): Env {
  return process.env
}
