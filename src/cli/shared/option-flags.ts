/** Flags that stand for options of the transport. */
import { rowOf } from '../../options/option-table.js'
import type { OptionName } from '../../options/option-table.js'
import type { Arguments, Flags } from './command.js'

/** By flag. Deliberately without the API key: process lists show arguments. */
const OPTIONS = {
  url: 'url',
  service: 'service',
  environment: 'environment',
  level: 'level',
  'message-key': 'messageKey',
  'error-key': 'errorKey',
  'nested-key': 'nestedKey',
  'custom-levels': 'customLevels',
} as const satisfies Readonly<Record<string, OptionName>>

export const OPTION_FLAGS = {
  url: { value: 'URL', meaning: 'base URL of the service, ends with /api/v1' },
  service: { value: 'NAME', meaning: 'name of the service that logs' },
  environment: { value: 'NAME', meaning: 'environment label' },
  level: { value: 'LEVEL', meaning: 'lowest level that is sent (info)' },
  'message-key': { value: 'KEY', meaning: "pino's messageKey, where it is not msg" },
  'error-key': { value: 'KEY', meaning: "pino's errorKey, where it is not err" },
  'nested-key': { value: 'KEY', meaning: "pino's nestedKey, where one is set" },
  'custom-levels': { value: 'LIST', meaning: "pino's customLevels, as audit:35,notice:25" },
} as const satisfies Readonly<Record<keyof typeof OPTIONS, Flags[string]>>

export const KEY_NOTE = `The key comes from PINO_INGEST_API_KEY, or from the file that PINO_INGEST_API_KEY_FILE names. There is no flag for it,
since process lists show arguments. Every option can be set by its variable; a flag wins over it.`

/** Options by name, not yet checked. */
export function parseOptionFlags(given: Arguments): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(OPTIONS).flatMap(([flag, option]) => {
      const text = given.texts.get(flag)
      return text === undefined ? [] : [[option, rowOf(option).kind.parse(text)]]
    }),
  )
}
