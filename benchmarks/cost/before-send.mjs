/** A hook as in the handbook: it looks at each entry, and takes something out. */

/** @type {import('pino-ingest').BeforeSend} */
export default (entry) => {
  if (entry.request?.path === '/health') return null
  delete entry.user?.email
  return entry
}
