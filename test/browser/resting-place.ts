/**
 * An empty page for windows between two tests. It is on loopback like the services: leaving the site would end the window's process,
 * and starting a new one takes longer than most tests.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RestingPlace {
  readonly origin: string
  close(): void
}

/** Has an icon to prevent the browser from requesting one. */
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
