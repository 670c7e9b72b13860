/** A typical hook: it checks each entry and removes a value. */

/** @type {import('pino-ingest').BeforeSend} */
export default (entry) => {
  if (entry.request?.path === '/health') return null
  delete entry.user?.email
  return entry
}
