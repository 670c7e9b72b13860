/**
 * Injection payloads, by the context that careless code would put them in. A payload that runs sets `__pwned` on the window, opens a
 * dialog, or sends a request to another host; none may ever run.
 */
const RUN = 'window.__pwned=1'
const CALL = `(window.__pwned=1,alert(1))`
const ELSEWHERE = '//elsewhere.invalid/x'

const ELEMENTS = [
  `</textarea></title></style></noscript><script>${RUN}</script>`,
  `<img src=x onerror="${CALL}">`,
  `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg' onload='${RUN}'/>#x">`,
  `<math><mtext></p><img src=x onerror=${RUN}></mtext></math>`,
  `<iframe srcdoc="<script>parent.__pwned=1</script>"></iframe>`,
  `<input autofocus onfocus=${RUN}>`,
  `<a href="javascript:${CALL}" id=location>click</a>`,
  `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`,
  `<base href="http:${ELSEWHERE}/">`,
  `<style>@import url(${ELSEWHERE}.css);*{background:url(${ELSEWHERE}.png)}</style>`,
  `<!--<img src="--><img src=x onerror=${RUN}//">`,
]

const ATTRIBUTES = [
  `" onmouseover="${RUN}" x="`,
  `' onfocus='${RUN}' autofocus x='`,
  `" style="animation-name:x" onanimationstart="${RUN}`,
  `javascript:${CALL}`,
  `\tjava\nscript:${RUN}`,
  `//elsewhere.invalid/path?a=b&c=<d>`,
]

const TEMPLATES = [
  `{{constructor.constructor('${RUN}')()}}`,
  `\\u003cscript\\u003e${RUN}\\u003c/script\\u003e`,
  `{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${RUN}>"}}`,
  `a,b;c=d&level=fatal&q=x#token=forged`,
]

const CHARACTERS = [
  '<b',
  '& &amp; &#38; &nosuch;',
  '\u202Egnp.exe\u202C and \u2066isolated\u2069',
  'zero\u200Bwidth\u200D\uFEFF\u2060joined',
  'bell\u0007 escape\u001B[31mred\u001B[0m back\u0008 form\u000C delete\u007F next\u0085',
  'line\u2028separator\u2029paragraph\r\nsecond\tline\n\n\n   last',
  `${'Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D\u034F\u0334'.repeat(8)}algo`,
  `${'<b>long</b> '.repeat(1500)}`,
  ' ',
  '__proto__',
]

export const CORPUS: readonly string[] = [...ELEMENTS, ...ATTRIBUTES, ...TEMPLATES, ...CHARACTERS]
