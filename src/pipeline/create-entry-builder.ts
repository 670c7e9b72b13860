/** Creates the entry builder from the settings. */
import { validateRequest } from '../client/request-validation.js'
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import { Deduplicator } from '../filter/deduplicator.js'
import { BeforeSendHook } from '../filter/before-send-hook.js'
import type { HookResult } from '../filter/before-send-hook.js'
import type { HookFunction } from '../filter/load-hook.js'
import { Sampler } from '../filter/sampler.js'
import { EntryBuilder } from './entry-builder.js'
import type { EntryBreadcrumbs } from './entry-builder.js'
import { toThreshold } from '../options/resolve-options.js'
import type { Settings } from '../options/resolve-options.js'
import type { MappingOptions } from '../record/reference/entry-fields.js'
import type { Mapper } from '../record/mapper.js'
import { BreadcrumbFactory } from '../breadcrumbs/breadcrumb-factory.js'
import type { RequestJoiner } from '../request-logs/request-joiner.js'
import { BreadcrumbBuffer } from '../breadcrumbs/breadcrumb-buffer.js'
import type { RequestLogPipeline } from './request-log-pipeline.js'

export interface EntryBuilderParts {
  readonly settings: Settings
  readonly mapping: MappingOptions
  readonly clock: Clock
  readonly mapper: Mapper
  readonly joiner: RequestJoiner
  readonly requests: RequestLogPipeline | undefined
  /** The function of `beforeSend`. */
  readonly hook: HookFunction | undefined
  readonly onProblem: (message: string) => void
  /** Receives a summary of repeated entries; '' if the hook dropped it. */
  readonly onSummary: (entryJson: string, severity: number) => void
}

export function createEntryBuilder(parts: EntryBuilderParts): EntryBuilder {
  const { settings, mapping, clock, mapper, joiner, requests, hook, onProblem, onSummary } = parts
  const { maxEntryBytes, sample, dedupeWindowMs } = settings
  const beforeSend =
    hook && new BeforeSendHook({ hook, onProblem, isValid: findFault, maxEntryBytes, redactor: mapping.redactor })
  return new EntryBuilder({
    mapper,
    joiner,
    maxEntryBytes,
    threshold: toThreshold(settings.level),
    onRecord: requests && ((record) => requests.add(record)),
    breadcrumbs: createBreadcrumbs(settings, mapping, mapper, clock),
    sampler: sample && new Sampler(sample),
    deduplicator:
      dedupeWindowMs === 0
        ? undefined
        : new Deduplicator({
            windowMs: dedupeWindowMs,
            clock,
            maxEntryBytes,
            onSummary: ({ json, severity }) => {
              const result: HookResult | 'drop' = beforeSend?.apply(json) ?? { json }
              if (result === 'drop') return onSummary('', severity)
              onSummary(result.json, result.severity ?? severity)
            },
          }),
    hook: beforeSend,
  })
}

/** @returns a description of the entry's violation of the interface; undefined for a valid entry */
function findFault(entry: unknown): string | undefined {
  try {
    validateRequest('batch', { logs: [entry] })
    return undefined
  } catch (error) {
    if (error instanceof IngestError) return error.message.replace(/^batch\.logs\[0\]\.?/, '')
    throw error
  }
}

function createBreadcrumbs(
  { breadcrumbs }: Settings,
  mapping: MappingOptions,
  mapper: Mapper,
  clock: Clock,
): EntryBreadcrumbs | undefined {
  if (breadcrumbs === false) return undefined
  const { limit, maxBytes, level } = breadcrumbs
  return {
    buffer: new BreadcrumbBuffer({ ring: mapper.lines, limit, maxBytes, clock }),
    factory: new BreadcrumbFactory(mapping, mapper, () => clock.wallNow()),
    threshold: toThreshold(level),
    limit,
  }
}
