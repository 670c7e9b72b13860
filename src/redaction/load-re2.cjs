/**
 * Loads re2js on demand, because loading takes 10 ms and most applications configure no expression.
 *
 * CommonJS in both builds, because `ingestStream()` cannot wait for an `import()` and bundlers follow this `require`.
 *
 * @returns {typeof import('re2js').RE2JS}
 */
module.exports = function loadRe2() {
  return require('re2js').RE2JS
}
