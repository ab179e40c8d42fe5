/**
 * Texts that try to become more than text. Whatever of them becomes an element has the attribute `data-hostile` or the name `x-hostile`;
 * whatever runs opens a dialog; whatever is loaded comes from `hostile.invalid`.
 */
export const hostileTexts = {
  script: '<script data-hostile>alert("script")</script><script data-hostile src="http://hostile.invalid/a.js"></script>',
  image: '<img data-hostile src=x onerror=alert("image")>',
  svg: '<svg data-hostile onload=alert("svg")><animate onbegin=alert("animate") attributeName=x dur=1s></svg>',
  frame: `<iframe data-hostile srcdoc="<script>parent.alert('frame')</script>"></iframe><object data-hostile data="http://hostile.invalid/o">`,
  javascript: 'javascript:alert("javascript")',
  spaced: 'java\tscript:alert("spaced")//http://hostile.invalid/%0a',
  data: "data:text/html,<script data-hostile>parent.alert('data')</script>",
  attribute: `" autofocus onfocus="alert('attribute')" data-hostile="`,
  quote: `' onmouseover='alert("quote")' data-hostile='`,
  closing: "]]>--></title></style></textarea></option></select></dialog></script><x-hostile data-hostile>closing</x-hostile>",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it tries to be one
  template: "${alert('template')}{{constructor.constructor('alert(1)')()}}<%= alert(1) %>#{alert(1)}",
  entity: "&lt;img data-hostile src=x onerror=alert(1)&gt;&#60;x-hostile&#62;&amp;&nbsp;&quot;",
  css: "red;background:url(http://hostile.invalid/c.png);}*{background:url(http://hostile.invalid/d.png)}@import 'http://hostile.invalid/e.css';",
  style: `<style data-hostile>*{display:none!important}</style><link data-hostile rel=stylesheet href="http://hostile.invalid/f.css">`,
  bidi: "photo \u202egnp.exe \u2066 then \u2067",
  invisible: "ad\u200bmin\u200d\ufeff\u00ad\u2060\u180e",
  stacked: `Z${"\u0300\u0301\u0302\u0303".repeat(12)}algo`,
  long: `wide${"W".repeat(180)}`,
  proto: "__proto__",
  constructor: "constructor",
  markdown: '[click](javascript:alert("markdown")) ![x](http://hostile.invalid/g.png) `code` **bold**',
  lines: "first line\n\n\n\n\n\n\n\nninth line\r\n\u2028separated\u2029end",
} as const;

/** The name of a hostile text. */
export type HostileName = keyof typeof hostileTexts;

/** The names of all of them. */
export const hostileNames = Object.keys(hostileTexts) as readonly HostileName[];
