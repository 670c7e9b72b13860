/** The flags of `dev`, parsed into options of the service. Pure. */
import type { IngestServiceOptions } from '../../service/index.js'
import { createUsageError } from '../shared/command.js'
import type { Arguments, Flags } from '../shared/command.js'
import { parseDurationMs, parseBytes, parseInteger } from '../shared/quantities.js'

/** The transport's default outside production. */
const DEFAULT_PORT = 4319

export const DEV_FLAGS: Flags = {
  port: { value: 'NUMBER', meaning: `port to listen on (${DEFAULT_PORT}); 0 uses a free port` },
  host: { value: 'HOST', meaning: '127.0.0.1 (default), ::1 or localhost; only loopback is allowed' },
  db: { value: 'FILE', meaning: 'stores received records in this file and loads its content at startup' },
  'max-entries': {
    value: 'NUMBER',
    meaning: 'maximum number of entries, and of request logs; the oldest are deleted first (200000)',
  },
  'max-bytes': {
    value: 'SIZE',
    meaning: 'limit of each kind of record, such as 256mb or 1gb; the oldest are deleted first (192mb)',
  },
  'max-age': { value: 'AGE', meaning: 'deletes records older than this, such as 30m, 12h or 7d (no limit)' },
  quiet: { short: 'q', meaning: 'does not print received records' },
  show: { meaning: 'with a program: prints received records on stderr' },
}

const HOSTS = ['127.0.0.1', '::1', 'localhost'] as const

type Host = (typeof HOSTS)[number]

function isHost(text: string | undefined): text is Host | undefined {
  return text === undefined || (HOSTS as readonly string[]).includes(text)
}

/** @throws CommandError */
export function parseServiceOptions({ texts }: Arguments): IngestServiceOptions {
  const host = texts.get('host')
  if (!isHost(host))
    throw createUsageError(`--host must be ${HOSTS.join(', ')} (only loopback is allowed), got ${JSON.stringify(host)}`)
  const value = <T>(flag: string, read: (flag: string, text: string) => T): T | undefined => {
    const text = texts.get(flag)
    return text === undefined ? undefined : read(flag, text)
  }
  return {
    port: value('port', (flag, text) => parseInteger(flag, text, 0, 65_535)) ?? DEFAULT_PORT,
    ...omitUndefined({
      dbFile: texts.get('db'),
      host,
      maxEntries: value('max-entries', (flag, text) => parseInteger(flag, text, 1, Number.MAX_SAFE_INTEGER)),
      maxStoreBytes: value('max-bytes', parseBytes),
      maxAgeMs: value('max-age', parseDurationMs),
    }),
  }
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> }

function omitUndefined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}
