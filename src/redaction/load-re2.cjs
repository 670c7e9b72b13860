/**
 * Loads re2js when an expression needs it: it takes 10 ms, and most applications configure none.
 *
 * CommonJS in both builds: `ingestStream()` cannot wait for an `import()`, and bundlers follow this `require`.
 *
 * @returns {typeof import('re2js').RE2JS}
 */
module.exports = function loadRe2() {
  return require('re2js').RE2JS
}
