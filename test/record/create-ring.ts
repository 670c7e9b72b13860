/** A ring in memory of its own, as in runtimes without WebAssembly. */
import { LEAST_RING_BYTES, LineRing } from '../../src/record/line-ring.js'

export function createRing(bytes: number = LEAST_RING_BYTES): LineRing {
  return new LineRing(Buffer.allocUnsafeSlow(bytes + 1), 0, bytes)
}
