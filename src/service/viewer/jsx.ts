/** The functions that the build calls for JSX. */
export { Fragment, h } from 'preact'
