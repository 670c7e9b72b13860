/** Starts `pino-ingest dev` on a free port, with the token in a scratch folder. */
import { scratch } from '../client/release/clones.js'
import { call, until } from '../service/support.js'
import { startCli } from './run-cli.js'
import type { CliEnv, RunningCli } from './run-cli.js'

export interface Started {
  readonly page_url: string
  readonly url: string
  readonly origin: string
  readonly port: number
  readonly token: string
  readonly arrived: number
}

/** Environment with an empty state folder, as for a first start. */
export function devEnv(): CliEnv {
  return { XDG_STATE_HOME: scratch() }
}

export async function startJson(
  args: readonly string[] = [],
  env: CliEnv = devEnv(),
): Promise<{ running: RunningCli; started: Started }> {
  const running = startCli(['dev', '--port', '0', '--json', ...args], env)
  await until(() => running.said().includes('\n'), 20_000)
  return { running, started: JSON.parse(running.said().split('\n', 1)[0] ?? '') as Started }
}

export async function startText(
  args: readonly string[] = [],
  env: CliEnv = devEnv(),
): Promise<{ running: RunningCli; url: string; origin: string; token: string }> {
  const running = startCli(['dev', '--port', '0', ...args], env)
  await until(() => running.said().includes('Stored in'), 20_000)
  const [, origin = '', token = ''] = /(http:\S+)\/#token=(\S+)/.exec(running.said()) ?? []
  return { running, origin, token, url: /listens on (\S+) /.exec(running.said())?.[1] ?? '' }
}

export function send(url: string, ...logs: readonly unknown[]): ReturnType<typeof call> {
  return call(`${url}/ingest`, { body: { batch_id: 'b', logs } })
}

/** The stored entries, from the JSON API. */
export async function entriesAt({
  origin,
  token,
}: Pick<Started, 'origin' | 'token'>): Promise<readonly { readonly entry: Record<string, unknown> }[]> {
  const { json } = await call(`${origin}/local/entries`, {
    method: 'GET',
    headers: { authorization: `Bearer ${token}` },
  })
  return (json as { items: { entry: Record<string, unknown> }[] }).items
}
