/** Ways to throw in CommonJS. */
module.exports = {
  common() {
    throw new RangeError('common')
  },
}
