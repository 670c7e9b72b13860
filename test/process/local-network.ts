/** Processes in their own network namespace, where the port of the local service is always free. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { cleanEnv } from './run-app.js'

export const hasNamespaces = spawnSync('/usr/bin/unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0

export const CLI = fileURLToPath(new URL('../../dist/cjs/cli.js', import.meta.url))

export interface Running {
  readonly stdout: () => string
  readonly stderr: () => string
  readonly write: (text: string) => void
  readonly end: (text?: string) => void
  /** Resolves when the process has ended. */
  readonly stop: () => Promise<void>
  readonly done: Promise<number | null>
}

export interface Network {
  /** Starts a Node program that ends with the test. */
  run(args: readonly string[]): Running
}

/** @param env of every process in the namespace */
export async function privateNetwork(env: Record<string, string>): Promise<Network> {
  const holder = spawn('/usr/bin/unshare', ['-n', 'sh', '-c', 'ip link set lo up && echo up && exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void holder.kill('SIGKILL'))
  await once(holder.stdout, 'data')
  return {
    run(args) {
      const child = spawn('/usr/bin/nsenter', [`--net=/proc/${holder.pid}/ns/net`, process.execPath, ...args], {
        env: cleanEnv(env),
        stdio: 'pipe',
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const text = { stdout: '', stderr: '' }
      child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()))
      child.stdin.on('error', () => {}) // the exit code shows an early end
      const done = once(child, 'close').then(() => child.exitCode)
      return {
        stdout: () => text.stdout,
        stderr: () => text.stderr,
        done,
        write: (input) => void child.stdin.write(input),
        end: (input = '') => void child.stdin.end(input),
        async stop() {
          child.kill('SIGKILL')
          await done
        },
      }
    },
  }
}
