import { logger } from '../../../lib/by-worker'

// Otherwise the build would call the route and cache the response.
export const dynamic = 'force-dynamic'

export function GET() {
  for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'from a route handler')
  return Response.json({ logged: 1000 })
}
