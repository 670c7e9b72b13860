import { after } from 'next/server'
import { flush } from 'pino-ingest'
import { logger } from '../../../lib/in-process'

// Otherwise the build would call the route and cache the response.
export const dynamic = 'force-dynamic'

export function GET() {
  for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'from a route handler')
  after(async () => { await flush(logger) })
  return Response.json({ logged: 1000 })
}
