/**
 * Loads re2js on demand, because loading takes 10 ms. CommonJS, because queries are synchronous and cannot await `import()`.
 *
 * @returns {typeof import('re2js').RE2JS}
 */
module.exports = function loadRe2() {
  return require('re2js').RE2JS
}
