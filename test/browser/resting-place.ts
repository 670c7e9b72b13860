/**
 * Where a window waits between two tests: an empty page. On loopback as the services are, since to leave the site would end the
 * window's process, and to start a new one takes longer than most tests.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RestingPlace {
  readonly origin: string
  close(): void
}

/** With an icon, so that the browser does not ask for one. */
const PAGE = '<!doctype html><title>waiting</title><link rel="icon" href="data:,">'

export async function openRestingPlace(): Promise<RestingPlace> {
  const server = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end(PAGE))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
