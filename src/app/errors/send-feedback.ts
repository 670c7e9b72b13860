/** [main] Sends a user's feedback about an error. */
import { readOptions } from '../../shared/argument-checks.js'
import type { CallOptions, Feedback, IngestClientOptions } from '../../client/index.js'
import { withClient } from '../../client/with-client.js'

/** Options of `sendFeedback()`: those of `IngestClient` and of a call. */
export type SendFeedbackOptions = IngestClientOptions & CallOptions

/**
 * Attaches a user's feedback to a logged event (`POST /feedback`, docs/protocol.md). URL and key are those of `IngestClient`. Every call
 * opens and closes its own connection. For many concurrent calls use `IngestClient.sendFeedback`.
 *
 * @param feedback `event_id` is the id that `captureError` returned
 * @throws IngestError `CONFIG` if the configuration is missing, `INVALID` for a field; all that `IngestClient` throws.
 */
export async function sendFeedback(feedback: Feedback, options: SendFeedbackOptions = {}): Promise<void> {
  const { signal, ...clientOptions } = readOptions('sendFeedback()', options)
  await withClient(clientOptions, (client) => client.sendFeedback(feedback, { signal }))
}
