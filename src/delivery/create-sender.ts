/** The sender of single attempts for one endpoint: converts the body, compresses it, and sends it. */
import type { Sender } from '../batch/sender.js'
import type { Settings } from '../options/settings.js'
import type { EndpointTarget } from './destination-types.js'
import { createGzipSender } from './gzip-sender.js'

export function createSender(
  { sender, encode }: EndpointTarget,
  { compression }: Pick<Settings, 'compression'>,
): Sender {
  const compressing = compression === 'gzip' ? createGzipSender(sender) : sender
  return encode?.(compressing) ?? compressing
}
