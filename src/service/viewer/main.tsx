/** The page's start. */
import { render } from 'preact'

const root = document.getElementById('app')
if (root !== null) render(<p>pino-ingest</p>, root)
