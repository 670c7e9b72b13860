/** Which expressions are let loose on logged text. */
import { describe, expect, test } from 'vitest'
import { scrubPatterns } from '../../src/options/scrub.js'
import { patternProblem } from '../../src/scrub/check-pattern.js'
import { BUILT_INS, patternOf } from '../../src/scrub/patterns.js'

/** From advisories (moment, ua-parser, marked, semver, OWASP's e-mail and others) and the literature. */
const CATASTROPHIC = [
  '(a+)+$', '(a|a)*$', '(a|aa)+$', '(.*a){20}', '^(([a-z])+.)+[A-Z]([a-z])+$', String.raw`(\w|\d)+$`, '^(a?){25}a{25}$', '(a*)*b',
  String.raw`^(\w+\s?)*$`, '(x+x+)+y', '(?:a|ab|b)*c', '(ab|abab)+$', '(a{1,10}){1,10}b', '^(?:foo|foofoo|bar)*$', String.raw`(a+)\1+b`,
  '^(?=(a+)+$)', '(?=(a+)+b)c', '(?:(?:a?){10}b)+c', '^(ab)*(ab)*$', '(?:(?:a+)?)+b', String.raw`(?<n>\w+)+\k<n>$`, String.raw`(\p{L}+)*\d`, '/(a|A)*b/i', String.raw`(.|\s)*x`, String.raw`^(.+)+@(.+)+$`,
  '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
  String.raw`^(\-)?(?:(\d*)[. ])?(\d+)\:(\d+)(?:\:(\d+)\.?(\d{3})?\d*)?$`,
  String.raw`ip[honead]+(?:.*os\s([\w]+)\slike\smac|;\sopera)`, String.raw`\[(?:\[(?:[^\[\]])*\]|[^\[\]])*\]\((?:[^()]*|\([^()]*\))*\)`,
  String.raw`^(?:(?:0|[1-9]\d*)\.?)+-?$`, String.raw`(?:\\.|[^"])*"`,
]
/** The square of a megabyte is no less of a catastrophe. */
const POLYNOMIAL = [
  String.raw`\s+$`, '.*.*=.*', String.raw`^\s*(.*?)\s*$|x`, String.raw`\d+\d+x`, String.raw`\s*\n\s*x`, 'x*y', String.raw`[\s\S]*?-->`, String.raw`\s+,`,
  String.raw`\w+@\w+\.com`, String.raw`[\w.+-]+@[\w-]+\.[\w.]+`, 'a{0,5000}b', 'a{0,500}a{0,500}b', '/^\\s+x/m', '(?<=a+)b', 'a+b|a',
]
const HARMLESS = [
  String.raw`\d{3}-\d{4}`, 'sk_live_[0-9a-zA-Z]{24}', String.raw`(?<=key=)\w+`, String.raw`[A-Z]{2}\d{6}`, 'AKIA[0-9A-Z]{16}', 'gh[pousr]_[A-Za-z0-9]{36}',
  String.raw`(?:foo|bar|baz)-\d+`, String.raw`\p{Lu}\p{Ll}{2,10}`, String.raw`^user-\d+$`, String.raw`password=\S+`, String.raw`\b\d{3}[- ]?\d{2}[- ]?\d{4}\b`,
  'sk_live_.*', String.raw`foo\.bar`, 'xox[baprs]-[0-9A-Za-z-]{10,48}', '-----BEGIN [A-Z ]{1,30}PRIVATE KEY-----', String.raw`eyJ[\w-]+\.[\w-]+\.[\w-]+`,
  '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', String.raw`(?:\d{1,3}\.){3}\d{1,3}`, '"token":"[^"]*"', 'AIza[0-9A-Za-z_-]{35}',
  String.raw`\+?\d{1,3}[ -]?\(?\d{3}\)?[ -]?\d{3}[ -]?\d{4}`, String.raw`https?://[^\s"]+`, String.raw`\d+`, '[a-z0-9]{32,}', String.raw`(?:\d[ -]?){13,19}`,
  String.raw`(['"])secret\1`, String.raw`(?:[\w-]{1,63}\.){1,10}com`, String.raw`\b[\w.%+-]{1,64}@[\w.-]{1,255}\.[A-Za-z]{2,10}\b`, '/\\bbearer [a-z0-9]{20,}/i',
  String.raw`(?<year>\d{4})-\k<year>`, '[А-Яа-я]{3,20}', 'hello world', 'AcmeCorp', String.raw`\$\{[^}]*\}`, String.raw`Bearer\s+[\w.~+/-]+=*`, '[^\\x00-\\x7f]+',
  String.raw`-----BEGIN [\s\S]+?-----END [A-Z ]+-----`, String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----`,
  String.raw`\b(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}\b`, '^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$',
  String.raw`password:\s*.*`, String.raw`^(?=.*[A-Z])(?=.*\d).{8,64}$`, String.raw`\b(?:\d[ -]*?){13,16}\b`, '(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}',
]

test('built-ins', () => expect(BUILT_INS.map(patternProblem)).toEqual([undefined, undefined, undefined, undefined]))

test.each([...CATASTROPHIC, ...POLYNOMIAL])('refused: %s', (source) => {
  expect(patternProblem(source)).toMatch(/may backtrack catastrophically|may take the square|matches empty text/)
}, 30_000)

test.each(HARMLESS)('accepted: %s', (source) => {
  expect(patternProblem(source)).toBeUndefined()
  expect(() => patternOf(source)).not.toThrow()
}, 30_000)

describe('what is no expression', () => {
  test.each([
    ['user.password', /looks like a path; paths are pino's own `redact: \["user\.password"\]`/],
    ['req.headers.cookie', /looks like a path/], ['*.ssn', /looks like a path/], ['users[*].name', /looks like a path/], ['["a-b"].c', /looks like a path/],
    ['req.headers["x-api-key"]', /looks like a path/], ['a[0].b', /looks like a path/], ['req.headers.*', /looks like a path/],
    ['password', /is the name of a field/], ['apiKey', /is the name of a field/],
    ['creditcard', /did you mean creditCard/], ['credit_cards', /did you mean creditCard/], ['Emails', /did you mean email/], ['SSN', /did you mean ssn/],
    ['(', /is no regular expression: Unterminated group$/], ['/x/q', /flags are i, m, s and u/], ['', /is empty/],
    ['a*', /matches empty text/], ['x?|y', /matches empty text/], [String.raw`\b`, /matches empty text/], ['(?=secret)', /matches empty text/], ['|a', /matches empty text/],
    ['a'.repeat(1_001), /has 1001 characters/],
  ])('%s', (source, problem) => expect(patternProblem(source)).toMatch(problem))
})

test('the option', () => {
  expect(scrubPatterns.read(['email', 'sk_[a-z]{4}'])).toEqual(['email', 'sk_[a-z]{4}'])
  expect(scrubPatterns.read([])).toEqual([])
  expect(scrubPatterns.read(['email', 'user.password'])).toBeUndefined()
  expect(scrubPatterns.problem(['email', 'user.password'])).toMatch(/^"user\.password" looks like a path/)
  expect(scrubPatterns.read('email')).toBeUndefined()
  expect(scrubPatterns.problem('email')).toBeUndefined()
  expect(scrubPatterns.parse('email, ssn')).toEqual(['email', 'ssn'])
  expect(scrubPatterns.parse('["a{1,2}b"]')).toEqual(['a{1,2}b'])
})
