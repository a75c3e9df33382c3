// What somebody would write who wants the page to do something: each would call `pwned()`, or fetch from `evil.example`.

const run = 'pwned()';

/** Markup that must stay text, or be made harmless. */
export const markup = [
  `<script>${run}</script>`,
  `<img src=x onerror=${run}>`,
  `<img src="https://evil.example/beacon.png">`,
  `<svg onload=${run}><script>${run}</script></svg>`,
  `<svg><animate onbegin=${run} attributeName=x dur=1s></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='x' onerror='${run}'/></svg>#x"></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${run}&gt;">`,
  `<math><mi xlink:href="javascript:${run}">x</mi><annotation-xml encoding="text/html"><img src=x onerror=${run}></annotation-xml></math>`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${run}>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  `<a href="javascript:${run}">run</a>`,
  `<a href="https://ok.example" onclick="${run}">run</a>`,
  `<iframe src="javascript:${run}"></iframe><iframe srcdoc="<script>${run}</script>"></iframe>`,
  `<object data="data:text/html,<script>${run}</script>"></object><embed src="https://evil.example/x">`,
  `<style>@import "https://evil.example/x.css"; body { background: url(https://evil.example/y) }</style>`,
  `<div style="background:url(https://evil.example/z);position:fixed;inset:0">over everything</div>`,
  `<link rel=stylesheet href="https://evil.example/a.css"><base href="https://evil.example/">`,
  `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
  `<form action="https://evil.example/" id=page name=body><input name=attributes><button>go</button></form>`,
  `<img id=page name=getElementById><a id=defaultView href=x:y>clobber</a>`,
  `<video autoplay src="https://evil.example/v" onerror=${run}></video><audio src=x onerror=${run}>`,
  `<details open ontoggle=${run}>x</details><marquee onstart=${run}>x</marquee>`,
  `<body onload=${run}><input autofocus onfocus=${run}><select autofocus onfocus=${run}>`,
  `<button data-copy popovertarget=x onclick=${run}>Copy</button>`,
  `\u0000<scr\u0000ipt>${run}</scr\u0000ipt>`,
  `"><img src=x onerror=${run}>`,
  `'-${run}-'`,
  '{@html pwned()} {{constructor.constructor("pwned()")()}}',
];

/** Markdown that leads somewhere it should not. */
export const links = [
  `[a](javascript:${run})`,
  `[b](JaVaScRiPt:${run})`,
  `[c](java\tscript:${run})`,
  `[d](&#106;avascript:${run})`,
  `[e](data:text/html;base64,PHNjcmlwdD5wd25lZCgpPC9zY3JpcHQ+)`,
  `[f](vbscript:${run})`,
  `[g](file:///etc/passwd)`,
  `[h](<javascript:${run}> "title\\" onmouseover=${run} x=\\"")`,
  `[i][ref]\n\n[ref]: javascript:${run} "x"`,
  `<javascript:${run}>`,
  `![j](javascript:${run})`,
  `![k](https://evil.example/k.png)`,
  `![l](//evil.example/l.png)`,
  `![m](data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20onload='${run}'%3E%3Cscript%3E${run}%3C/script%3E%3C/svg%3E)`,
  `![n" onerror="${run}](/x"onerror="${run})`,
  `![o](data:text/html,<script>${run}</script>)`,
];

/** Around code, whose language is written by whoever writes the code. */
export const fences = [
  `\`\`\`"><img/src=x/onerror=${run}>\n</code></pre><script>${run}</script>\n\`\`\``,
  `\`\`\`html\n<script>${run}</script><img src=x onerror=${run}>\n\`\`\``,
  `\`\`\`__proto__\nconstructor\n\`\`\``,
  `\`\`\`svg\n<svg onload=${run}>\n\`\`\``,
];

export const formulas = [
  `$\\href{javascript:${run}}{x}$`,
  `$\\url{javascript:${run}}$`,
  `$$\\includegraphics[height=1em]{https://evil.example/f.png}$$`,
  `$\\htmlId{page}{x} \\htmlClass{veil}{y} \\htmlStyle{position:fixed}{z} \\htmlData{copy=1}{w}$`,
  `$\\text{</span><img src=x onerror=${run}>}$`,
  `$$\\def\\a{\\a\\a}\\a$$`,
  `$\\rule{100000em}{100000em}$`,
  `$$<img src=x onerror=${run}>$$`,
];

const mermaid = (text) => `\`\`\`mermaid\n${text}\n\`\`\``;
export const diagrams = [
  mermaid(`flowchart LR\n  A["<img src=x onerror=${run}>"] --> B["<script>${run}</script>"]`),
  mermaid(`flowchart LR\n  A --> B\n  click A "javascript:${run}"\n  click B call pwned()`),
  mermaid(
    `%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}}}%%\nflowchart LR\n  A["<iframe srcdoc='<script>${run}</script>'></iframe>"]`,
  ),
  mermaid(
    `%%{init: {"themeCSS": "* { background: url(https://evil.example/css) } @import 'https://evil.example/i.css';"}}%%\nflowchart LR\n  A --> B`,
  ),
  mermaid(
    `%%{init: {"fontFamily": "x; } * { background: url(https://evil.example/font) } y {"}}%%\nflowchart LR\n  A --> B`,
  ),
  mermaid(`flowchart LR\n  A@{ img: "https://evil.example/node.png", label: "x" }`),
  mermaid(`sequenceDiagram\n  Alice->>Bob: <img src=x onerror=${run}>\n  link Alice: Go @ javascript:${run}`),
  mermaid(`classDiagram\n  class A\n  link A "javascript:${run}" "x"`),
  mermaid(`flowchart LR\n  A["$$\\href{javascript:${run}}{x}$$"]`),
  mermaid(`<svg onload=${run}>`),
];

/** Everything in one answer each. */
export const answers = [
  ...markup.map(
    (text) =>
      `Before ${text} after\n\n${text}\n\n- ${text}\n\n| a |\n|---|\n| ${text.replaceAll('|', '')} |\n\n# ${text}`,
  ),
  links.map((text) => `- ${text}`).join('\n'),
  links.join('\n\n'),
  fences.join('\n\n'),
  formulas.join('\n\n'),
  diagrams.join('\n\n'),
];
