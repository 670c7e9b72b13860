/** A till from another vendor. It sends its log entry without pino-ingest, with a level that the service rejects. */
export const TILL_BATCH = 'till-1'

export async function closeTill(ingestUrl) {
  const line = { level: 'notice', message: 'till closed', timestamp: new Date().toISOString(), service: 'till' }
  const response = await fetch(`${ingestUrl}/ingest`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'till' },
    body: JSON.stringify({ batch_id: TILL_BATCH, logs: [line] }),
  })
  await response.arrayBuffer()
}
