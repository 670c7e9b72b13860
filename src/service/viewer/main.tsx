/** The entry point of the page. */
import { render } from 'preact'
import { App } from './app.js'
import { listenToKeys } from './commands.js'
import { restWhileHidden } from './live/connection.js'
import { renderPlainText } from './render-plain-text.js'
import { takeToken, watchToken } from './access-token.js'
import { followTheme } from './settings.js'
import { followLinks } from './use-view.js'

renderPlainText()
followTheme()
takeToken()
watchToken()
followLinks()
listenToKeys()
restWhileHidden()

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
