/** The line that says that a key was given without a URL, for what has no report of its own. */

let isReported = false

/** Written to stderr once per process: a helper may be called often. */
export function reportUnusedKey({ keyWarning }: { readonly keyWarning?: string | undefined }): void {
  if (keyWarning === undefined || isReported) return
  isReported = true
  process.stderr.write(`pino-ingest: ${keyWarning}\n`)
}
