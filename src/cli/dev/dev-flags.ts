/** The flags of `dev`, parsed into options of the service. Pure. */
import type { IngestServiceOptions } from '../../service/index.js'
import { DEFAULT_PORT } from '../local/local-service.js'
import { UTC_FLAG } from '../local/record-line.js'
import type { Arguments, Flags } from '../shared/command.js'
import { parseDurationMs, parseBytes, parseInteger } from '../shared/quantities.js'

export const DEV_FLAGS: Flags = {
  port: {
    value: 'NUMBER',
    meaning: `port to listen on (${DEFAULT_PORT}, or a free one for a program if it is taken); 0 uses a free port`,
  },
  load: {
    value: 'FILE',
    meaning: 'loads FILE at startup: a log file, an export of the page, or output of tail --json or query --json',
  },
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
  open: { meaning: 'opens the page in the browser' },
  ...UTC_FLAG,
  quiet: { short: 'q', meaning: 'does not print received records' },
  show: { meaning: 'with a program: prints received records on stderr' },
}

/** @throws CommandError */
export function parseServiceOptions({ texts }: Arguments): IngestServiceOptions {
  const values = {
    port: parse(texts, 'port', (flag, text) => parseInteger(flag, text, 0, 65_535)),
    dbFile: texts.get('db'),
    maxEntries: parse(texts, 'max-entries', (flag, text) => parseInteger(flag, text, 1, Number.MAX_SAFE_INTEGER)),
    maxStoreBytes: parse(texts, 'max-bytes', parseBytes),
    maxAgeMs: parse(texts, 'max-age', parseDurationMs),
  }
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as IngestServiceOptions
}

function parse<T>(
  texts: ReadonlyMap<string, string>,
  flag: string,
  read: (flag: string, text: string) => T,
): T | undefined {
  const text = texts.get(flag)
  return text === undefined ? undefined : read(flag, text)
}
