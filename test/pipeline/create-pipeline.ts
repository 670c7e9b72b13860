/** A pipeline connected to the local service. */
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/shared/clock.js'
import type { HookFunction } from '../../src/filter/load-hook.js'
import { resolveOptions } from '../../src/options/resolve-options.js'
import type { IngestOptions } from '../../src/options/resolve-options.js'
import { Pipeline } from '../../src/pipeline/pipeline.js'
import { createIngestService } from '../../src/service/index.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { IngestService } from '../../src/service/index.js'

export interface Piped {
  readonly service: IngestService
  readonly pipeline: Pipeline
  /** Emitted events by name. */
  readonly reported: { readonly name: string; readonly payload: unknown }[]
  /** Writes pino's lines of these records. */
  write(...records: readonly object[]): void
  /** Ends the pipeline. @returns the entries at the service, in order */
  arrived(): Promise<LogEntry[]>
}

const KEY = 'pipeline-test-key'

export async function piped(
  options: Partial<IngestOptions> = {},
  env: Record<string, string> = {},
  hook?: HookFunction,
): Promise<Piped> {
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(() => service.close())
  const settings = resolveOptions(
    { url: service.url, apiKey: KEY, spool: false, logTo: 'silent', maxConcurrency: 1, ...options },
    { env, readFile: () => '' },
  )
  const reported: { name: string; payload: unknown }[] = []
  const pipeline = new Pipeline({
    settings,
    hook,
    clock: systemClock,
    emit: (name, payload) => void reported.push({ name, payload }),
  })
  onTestFinished(() => pipeline.close())
  return {
    service,
    pipeline,
    reported,
    write: (...records) => pipeline.records.write(records.map((record) => `${lineOf(record)}\n`).join('')),
    arrived: async () => {
      pipeline.endInput()
      await pipeline.close()
      return service
        .entries({ limit: Infinity })
        .items.toSorted((a, b) => a.seq - b.seq)
        .map(({ entry }) => entry)
    },
  }
}

const START_MS = Date.UTC(2026, 10, 21)
let written = 0

/** Starts and ends the pipeline as pino does. */
export function lineOf({ level = 30, msg, ...others }: { readonly level?: number; readonly msg?: string }): string {
  return JSON.stringify({ level, time: START_MS + written++, pid: 1, hostname: 'host', ...others, msg })
}
