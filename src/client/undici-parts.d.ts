/**
 * The modules of undici that are loaded individually. They are not a documented interface, so `package.json` pins the
 * version.
 */
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
