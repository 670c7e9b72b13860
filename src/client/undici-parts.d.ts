/** The modules of undici that are loaded one by one. They are no documented interface, so `package.json` sets the exact version. */
declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
