/** Child processes. */
import { execFileSync, spawn } from 'node:child_process'

const RUN_MS = 60_000
/** The timeout of installs and builds. */
const BUILD_MS = 600_000

/** The user's own settings must not influence an application. @param {import('./types.d.mts').Environment} [env] */
export function cleanEnvironment(env) {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(PINO_INGEST_|OTEL_|NODE_|npm_|VITEST|JEST|CI$)/.test(name),
  )
  return { ...Object.fromEntries(own), ...env }
}

/** @param {readonly string[]} command @param {{ cwd: string, env?: import('./types.d.mts').Environment }} options */
export function exec([program = '', ...args], { cwd, env }) {
  try {
    return execFileSync(program, args, {
      cwd,
      env: cleanEnvironment(env),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 28,
      timeout: BUILD_MS,
    })
  } catch (error) {
    const { stdout = '', stderr = '' } = /** @type {{ stdout?: string, stderr?: string }} */ (error)
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/**
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable,
 *   import('node:stream').Readable>} child @returns its output, which grows
 */
export function collectOutput(child) {
  const printed = { stdout: '', stderr: '' }
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    child[name].setEncoding('utf8').on('data', (text) => {
      printed[name] += text
    })
  }
  return printed
}

/**
 * Runs to its end, at most 60 s, in its own process group: the children of a killed shell would keep its output open.
 * @param {readonly string[]} command @param {{ cwd: string, env?: import('./types.d.mts').Environment, runMs?: number }} options
 * @returns {Promise<import('./types.d.mts').Run>}
 */
export function runProgram([program = '', ...args], { cwd, env, runMs = RUN_MS }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: cleanEnvironment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const deadline = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), runMs)
    const printed = collectOutput(child)
    child.once('error', (error) => {
      clearTimeout(deadline)
      reject(error)
    })
    child.once('close', (code) => {
      clearTimeout(deadline)
      resolve({ code: code ?? undefined, ...printed })
    })
  })
}
