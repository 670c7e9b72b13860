/** Detects problems of a page: errors, policy violations, dialogs, windows, requests to other sites. */
import type { ConsoleMessage, Page, Request } from 'playwright-core'

/** Shows policy violations among the console's errors, from the first line of the document on. */
export const TELL_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy violation: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
})`

/** Most problems that a failed test lists. */
const MAX_CHARS = 400

/** Below the origin, all that a page ever asks for. */
const OWN_PATHS = /^\/(?:$|page\/|local\/)/

export class Watch {
  #origin = ''
  #tolerates: readonly RegExp[] = []
  #heard: string[] = []

  constructor(page: Page) {
    const hear = (text: string): void => void this.#heard.push(text)
    page.on('request', (request) => this.#see(request))
    page.on('console', (message) => this.#listen(message))
    page.on('pageerror', (error) => hear(`page error: ${error.stack ?? error.message}`))
    page.on('crash', () => hear('the page crashed'))
    page.on('popup', (popup) => hear(`window opened: ${popup.url()}`))
    page.on('websocket', (socket) => hear(`socket to ${socket.url()}`))
    page.on('dialog', (dialog) => {
      hear(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
  }

  /** From now on the page is that of this origin. */
  expect(origin: string, tolerates: readonly RegExp[]): void {
    this.#heard = []
    this.#origin = origin
    this.#tolerates = tolerates
  }

  /** Problems since the last call, without tolerated ones. */
  take(): readonly string[] {
    const heard = this.#heard
    this.#heard = []
    return heard
      .filter((text) => !this.#tolerates.some((pattern) => pattern.test(text)))
      .map((text) => text.slice(0, MAX_CHARS))
  }

  #see(request: Request): void {
    const url = new URL(request.url())
    if (['data:', 'blob:', 'about:'].includes(url.protocol)) return
    if (url.origin !== this.#origin || !OWN_PATHS.test(url.pathname)) this.#heard.push(`request to ${url.href}`)
  }

  #listen(message: ConsoleMessage): void {
    if (!['error', 'warning', 'assert'].includes(message.type())) return
    this.#heard.push(`console ${message.type()}: ${message.text()} (${message.location().url})`)
  }
}
