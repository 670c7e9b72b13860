/** [main] What a user says about an error that was shown to them. */
import type { CallOptions, Feedback, IngestClientOptions } from '../../client/index.js'
import { withClient } from '../../client/with-client.js'

export type SendFeedbackOptions = IngestClientOptions & CallOptions

/**
 * Attaches what a user says to a logged event (interface: POST /feedback). URL and key are those of `IngestClient`. Every call
 * has a connection of its own, which ends with it: for many at a time there is `IngestClient.sendFeedback`.
 *
 * @param feedback `event_id` is what `captureError` returned, and the page showed
 * @throws IngestError `CONFIG` where the configuration is missing, `INVALID` for a field; all that `IngestClient` throws.
 */
export async function sendFeedback(feedback: Feedback, options: SendFeedbackOptions = {}): Promise<void> {
  const { signal, ...clientOptions } = options
  await withClient(clientOptions, (client) => client.sendFeedback(feedback, { signal }))
}
