/** @param {import('pino-ingest').LogEntry} entry */
export default (entry) => entry.metadata?.['private'] === true ? null : entry
