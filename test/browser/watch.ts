/** Detects problems of a page: errors, policy violations, dialogs, windows, requests to other sites. */
import type { ConsoleMessage, Page, Request } from 'playwright-core'

/** Logs policy violations as console errors, from the start of the document. */
export const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy violation: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
})`

/** Maximum length of a problem in the message of a failed test. */
const MAX_CHARS = 400

/** Paths that the page requests. */
const OWN_PATHS = /^\/(?:$|page\/|local\/)/

export class Watch {
  #origin = ''
  #tolerates: readonly RegExp[] = []
  #problems: string[] = []

  constructor(page: Page) {
    const report = (text: string): void => void this.#problems.push(text)
    page.on('request', (request) => this.#see(request))
    page.on('console', (message) => this.#listen(message))
    page.on('pageerror', (error) => report(`page error: ${error.stack ?? error.message}`))
    page.on('crash', () => report('the page crashed'))
    page.on('popup', (popup) => report(`window opened: ${popup.url()}`))
    page.on('websocket', (socket) => report(`socket to ${socket.url()}`))
    page.on('dialog', (dialog) => {
      report(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
  }

  /** Sets the page's origin and the tolerated problems. */
  expect(origin: string, tolerates: readonly RegExp[]): void {
    this.#problems = []
    this.#origin = origin
    this.#tolerates = tolerates
  }

  /** Returns problems since the last call, without tolerated ones. */
  take(): readonly string[] {
    const problems = this.#problems
    this.#problems = []
    return problems
      .filter((text) => !this.#tolerates.some((pattern) => pattern.test(text)))
      .map((text) => text.slice(0, MAX_CHARS))
  }

  #see(request: Request): void {
    const url = new URL(request.url())
    if (['data:', 'blob:', 'about:'].includes(url.protocol)) return
    if (url.origin !== this.#origin || !OWN_PATHS.test(url.pathname)) this.#problems.push(`request to ${url.href}`)
  }

  #listen(message: ConsoleMessage): void {
    if (!['error', 'warning', 'assert'].includes(message.type())) return
    this.#problems.push(`console ${message.type()}: ${message.text()} (${message.location().url})`)
  }
}
