/** Starts the processes of the demo. They are killed when it exits. */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../../dist/cjs/cli.js', import.meta.url))
/** Limit of captured output, which is shown if the process fails. */
const MAX_CHARS = 10_000

/** Without the shell's settings for other applications. */
const cleanEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PINO_INGEST_')))

const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a module of this folder that exchanges messages. */
export function startModule(name, args, env = {}) {
  const child = fork(new URL(name, import.meta.url), args.map(String), { env: { ...cleanEnv, ...env }, silent: true })
  /** Messages received before anyone waits for them. */
  const unheard = []
  let wake = () => {}
  child.on('message', (message) => {
    unheard.push(message)
    wake()
  })
  // Not `exit`, which can precede its last message.
  let isGone = false
  child.once('disconnect', () => {
    isGone = true
    wake()
  })
  return withOutput(child, {
    /** Its next message with this member. One caller at a time. */
    async said(member) {
      for (;;) {
        const index = unheard.findIndex((message) => member in message)
        if (index >= 0) return unheard.splice(index, 1)[0][member]
        if (isGone) throw new Error(`${name} ended, before it reported ${member}`)
        await new Promise((resolve) => {
          wake = resolve
        })
      }
    },
    ask(question) {
      const answer = this.said(question)
      child.send(question)
      return answer
    },
  })
}

/** Starts a command of pino-ingest. */
export function startCommand(args, env) {
  return withOutput(spawn(process.execPath, [CLI, ...args], { env: { ...cleanEnv, ...env }, stdio: 'pipe' }))
}

/** Runs a command until it exits. */
export async function runCommand(args, env) {
  const command = startCommand(args, env)
  const code = await command.exited
  if (code !== 0) throw new Error(`pino-ingest ${args.join(' ')} ended with ${code}: ${command.output()}`)
  return command.output()
}

function withOutput(child, more = {}) {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      text = `${text}${chunk}`.slice(-MAX_CHARS)
    })
  }
  running.add(child)
  const exited = once(child, 'close').then(([code, signal]) => {
    running.delete(child)
    return code ?? signal
  })
  return Object.assign(more, {
    child,
    exited,
    output: () => text,
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      return exited
    },
  })
}
