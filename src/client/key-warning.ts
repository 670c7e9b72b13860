/** Warns on stderr about a key without a URL, for callers without a reporter. */

let isReported = false

/** Writes to stderr once per process, since a helper may be called often. */
export function reportUnusedKey({ keyWarning }: { readonly keyWarning?: string | undefined }): void {
  if (keyWarning === undefined || isReported) return
  isReported = true
  process.stderr.write(`pino-ingest: ${keyWarning}\n`)
}
