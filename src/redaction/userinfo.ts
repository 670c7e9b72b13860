/** [worker] Redacts the user info of URLs, including percent-encoded nested URLs and URLs with escaped slashes. */
import { findQuoteBefore, findQuoteEnd } from './quotes.js'
import { REDACTED } from './secret-names.js'

/**
 * All characters except white space and those that end the authority (RFC 3986, section 3.2; the URL standard accepts
 * the others).
 */
const SAFE = String.raw`[^\0- \s/?#"<>\\@]`
/** After `user:`, also accepts characters that end a string in JSON and HTML, but not in `localhost:8080"`. */
const PASSWORD = String.raw`[^\0- \s/?#"<>\\:@]*:(?!\d{0,5}(?:["'>\\]|$)|\d{1,5}<)(?:[^\0- \s/?#\\@]|\\+[^\0- \s/\\bfnrtu@])*`
/** A marker that somebody wrote may precede user info. */
const MARKER = String.raw`\[scrubbed\]@`
const USERINFO = new RegExp(
  String.raw`(:(?:\\*/){2})(?!${MARKER}(?!(?:${PASSWORD}|${SAFE}*)@))((?:${MARKER})?(?:${PASSWORD}|${SAFE}*)@(?:${SAFE}*@)*)`,
  'g',
)
/** After a marker, further user info decides. */
const ENCODED_CHAR = String.raw`(?:(?!%\k<level>(?:2F|3F|23|22|20))[^\0- \s/?#"'<>\\&]|'(?=[\w%!~*(.-]))`
const ENCODED = new RegExp(
  String.raw`(%(?<level>(?:25)*)3A(?:(?:%\k<level>2F){2}|//))(?!\[scrubbed\]%\k<level>40(?!${ENCODED_CHAR}*%\k<level>40))${ENCODED_CHAR}*(?=%\k<level>40)`,
  'gi',
)
const SCHEME_END = /[a-z\d+.-]{0,32}$/i
const MAX_SCHEME_CHARS = 32

/** Whether text or JSON text may contain user info. May report false positives, but no false negatives. */
export function hasUserinfo(text: string): boolean {
  USERINFO.lastIndex = ENCODED.lastIndex = 0
  const hasSlashes = text.includes('@') && (text.includes('//') || text.includes('\\/'))
  return (hasSlashes && USERINFO.test(text)) || (text.includes('%') && ENCODED.test(text))
}

export function removeUserinfo(text: string): string {
  let clean = text
  if (clean.includes('@')) {
    clean = clean.replace(USERINFO, (match, lead: string, userinfo: string, at: number) => {
      // A quote before the URL also ends it, even if an @ follows.
      const scheme = SCHEME_END.exec(text.slice(Math.max(0, at - MAX_SCHEME_CHARS), at))?.[0].length ?? 0
      const opened = findQuoteBefore(text, at - scheme)
      const end = opened === undefined ? userinfo.length : findQuoteEnd(userinfo, 0, opened, userinfo.length)
      const last = userinfo.lastIndexOf('@', end - 1)
      return last <= 0 || end === 0 ? match : `${lead}${REDACTED}${userinfo.slice(last)}`
    })
  }
  return clean.includes('%') ? clean.replace(ENCODED, `$1${REDACTED}`) : clean
}
