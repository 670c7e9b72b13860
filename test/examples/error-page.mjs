/** An error page with the event ID and a feedback form. The ID is a UUID and needs no escaping. */

/** @param {string} eventId @returns {string} */
export function errorPage(eventId) {
  return `<!doctype html>
<html lang="en">
<title>Something went wrong</title>
<h1>Something went wrong</h1>
<p>We know of it. Its reference is <code id="event">${eventId}</code>.</p>
<form method="post" action="/feedback">
  <input type="hidden" name="event_id" value="${eventId}">
  <label>What were you doing? <textarea name="comments" required></textarea></label>
  <label>Your e-mail address, if we may ask <input type="email" name="email"></label>
  <button>Send</button>
</form>
</html>
`
}
