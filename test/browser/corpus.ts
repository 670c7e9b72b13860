/**
 * Injection payloads, by the context that careless code would put them in. A payload that runs sets `__pwned` on the window, opens a
 * dialog, or sends a request to another host; none may ever run.
 */
const RUN = 'window.__pwned=1'
const CALL = `(window.__pwned=1,alert(1))`
const ELSEWHERE = '//elsewhere.invalid/x'

const ELEMENTS = [
  `<script>${RUN}</script>`,
  `</script><script>${RUN}</script>`,
  `</textarea></title></style></noscript><script>${RUN}</script>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<img src=x onerror="${CALL}">`,
  `<img src="${ELSEWHERE}.png">`,
  `<svg onload=${RUN}>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg' onload='${RUN}'/>#x">`,
  `<math><mtext></p><img src=x onerror=${RUN}></mtext></math>`,
  `<iframe srcdoc="<script>parent.__pwned=1</script>"></iframe>`,
  `<object data="data:text/html,<script>${RUN}</script>"></object>`,
  `<body onload=${RUN}>`,
  `<details open ontoggle=${RUN}>`,
  `<input autofocus onfocus=${RUN}>`,
  `<form action="javascript:${RUN}"><button autofocus>press</button></form>`,
  `<a href="javascript:${CALL}" id=location>click</a>`,
  `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`,
  `<base href="http:${ELSEWHERE}/">`,
  `<link rel=stylesheet href="${ELSEWHERE}.css">`,
  `<style>@import url(${ELSEWHERE}.css);*{background:url(${ELSEWHERE}.png)}</style>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<!--<img src="--><img src=x onerror=${RUN}//">`,
  `<![CDATA[<script>${RUN}</script>]]>`,
  `<p style="background:url(${ELSEWHERE}.png);position:fixed;inset:0">over all</p>`,
]

const ATTRIBUTES = [
  `" onmouseover="${RUN}" x="`,
  `' onfocus='${RUN}' autofocus x='`,
  '` onclick=`' + RUN + '`',
  `"><svg/onload=${RUN}>`,
  `" style="animation-name:x" onanimationstart="${RUN}`,
  `javascript:${CALL}`,
  `\tjava\nscript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `//elsewhere.invalid/path?a=b&c=<d>`,
  `http://elsewhere.invalid/a?token=1#<b>`,
  `}</style><script>${RUN}</script>`,
]

const TEMPLATES = [
  `\${${RUN}}`,
  `{{constructor.constructor('${RUN}')()}}`,
  `';${RUN};//`,
  `\\u003cscript\\u003e${RUN}\\u003c/script\\u003e`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `+ADw-script+AD4-${RUN}+ADw-/script+AD4-`,
  `{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${RUN}>"}}`,
  `$& $1 $\` %s %d %o`,
  `../../../../etc/passwd?x=1&y=2#z`,
  `a,b;c=d&level=fatal&q=x#token=forged`,
]

const CHARACTERS = [
  '<',
  '<b',
  '& &amp; &#38; &nosuch;',
  '\u202Egnp.exe\u202C and \u2066isolated\u2069',
  'مرحبا <b>שלום</b> 12345',
  'zero\u200Bwidth\u200D\uFEFF\u2060joined',
  'bell\u0007 escape\u001B[31mred\u001B[0m back\u0008 form\u000C delete\u007F next\u0085',
  'line\u2028separator\u2029paragraph',
  'first line\r\nsecond\tline\n\n\n   last',
  `${'Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D\u034F\u0334'.repeat(8)}algo`,
  '👩‍👩‍👧‍👦 🏳️‍🌈 \u{1F4A5}',
  'x'.repeat(20_000),
  `${'<b>long</b> '.repeat(1500)}`,
  ' ',
  '__proto__',
  'toString',
  'null',
]

export const CORPUS: readonly string[] = [...ELEMENTS, ...ATTRIBUTES, ...TEMPLATES, ...CHARACTERS]
