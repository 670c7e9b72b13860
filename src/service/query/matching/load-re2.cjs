/**
 * Loads re2js when a query has a regular expression: it takes 10 ms. CommonJS, since a query does not wait for an `import()`.
 *
 * @returns {typeof import('re2js').RE2JS}
 */
module.exports = function loadRe2() {
  return require('re2js').RE2JS
}
