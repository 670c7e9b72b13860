/** Starts the processes of the demo that are no commands. */
import { fork } from 'node:child_process'
import { cleanEnv, Process } from '../../nats/commands.mjs'

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
  return Object.assign(new Process(child), {
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
