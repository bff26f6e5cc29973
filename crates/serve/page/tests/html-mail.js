// Mail with HTML that the tests read: made here, the same each time.

/** @typedef {import("./support.js").Mailbox} Mailbox */

/** A picture of one red point, and one of two times two. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
export const GIF = "R0lGODlhAgACAIAAAP8AAAAAACH5BAAAAAAALAAAAAACAAIAAAIChFEAOw==";
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9" ' +
  'onload="window.ran=1"><script>window.ran=1</script><filter id="f"><feImage href="URL/fe.png"/></filter>' +
  '<rect width="9" height="9" filter="url(#f)"/><image href="URL/svg.png" width="9" height="9"/></svg>';

/** Ways to run something, or to load something from URL. Each is a message of its own. */
export const HOSTILE = Object.entries({
  script: "<script>parent.ran=1</script><script src=URL/a.js></script>",
  handlers:
    "<img src=x: onerror=parent.ran=1><p onclick=parent.ran=1 onmouseover=parent.ran=1>x<details open " +
    "ontoggle=parent.ran=1>",
  "javascript link": "<a href=javascript:parent.ran=1 id=go>go</a><a href='java&#10;script:parent.ran=1'>go</a>",
  "data link": "<a href='data:text/html,<script>opener.ran=1</script>'>go</a>",
  refresh: '<meta http-equiv=refresh content="0;url=URL/refresh">',
  form:
    '<form action=URL/form method=post><input name=a autofocus onfocus=parent.ran=1><input type=image ' +
    'src=URL/i.png><button id=go>x</button></form>',
  base: "<base href=URL/ target=_top><img src=relative.png><a href=relative>x</a>",
  iframe:
    "<iframe src=URL/frame></iframe><iframe srcdoc='<script>parent.parent.ran=1</script>'></iframe>" +
    "<frameset><frame src=URL/f></frameset>",
  object:
    "<object data=URL/o><param name=src value=URL/p></object><embed src=URL/e><applet archive=URL/x " +
    "code=x></applet>",
  svg: SVG,
  "svg as style": "<svg><style><img src=URL/s.png onerror=parent.ran=1></style></svg>",
  "style import":
    "<style>@import url(URL/i.css);@import " +
    "'URL/j.css';@font-face{font-family:f;src:url(URL/f.woff)}p{font-family:f}</style><p>x",
  "style url":
    "<style>p{background:url(URL/b.png);list-style:url('URL/l.png');cursor:url(URL/c.cur),auto}p::befor" +
    "e{content:url(URL/d.png)}</style><p style='background:url(URL/e.png)'>x",
  "style escapes":
    "<style>p{background:u\\72l(URL/b.png);background:image-set('URL/k.png' 1x)}</style><p " +
    "style='background:-webkit-image-set(url(URL/m.png) 1x)'>x",
  "style selectors":
    "<style>p[title^=a]{background:url(URL/a.png)}input[value^=s]{background:url(URL/v.png)}</style><p " +
    "title=abc>x",
  links:
    "<link rel=stylesheet href=URL/l.css><link rel=prefetch href=URL/p><link rel=preconnect href=URL>" +
    "<link rel=dns-prefetch href=URL><link rel=icon href=URL/i><link rel=preload as=image href=URL/q>",
  media:
    "<video poster=URL/v.png src=URL/v.mp4 autoplay></video><audio src=URL/a.mp3 autoplay></audio>" +
    "<video><source src=URL/s.mp4><track src=URL/t.vtt default></video>",
  srcset: "<img srcset='URL/1.png 1x, URL/2.png 2x'><picture><source srcset=URL/3.png><img src=URL/4.png></picture>",
  "background attributes":
    "<body background=URL/b.png><table background=URL/t.png><tr background=URL/r.png><td " +
    "background=URL/d.png>x</table>",
  "old attributes":
    "<img dynsrc=URL/d.png lowsrc=URL/l.png longdesc=URL/o><input type=image src=URL/i.png><bgsound " +
    "src=URL/s.mid><a ping=URL/ping href=#x>x</a><blockquote cite=URL/c>x</blockquote>",
  "math and template":
    "<math href=javascript:parent.ran=1><mtext><img src=URL/m.png onerror=parent.ran=1></math>" +
    "<template><img src=URL/t.png></template>",
  "parsed twice":
    "<noscript><p title='</noscript><img src=URL/n.png onerror=parent.ran=1>'><textarea><p " +
    "title='</textarea><img src=URL/x.png onerror=parent.ran=1>'>",
  clobbering:
    "<img name=documentElement id=body><form name=querySelector></form><iframe name=contentDocument>" +
    "</iframe>",
});

/** @param {number} number */
function day(number) {
  return new Date(Date.UTC(2025, 4, 1, number)).toUTCString();
}

/**
 * Writes the mail. URL in it is `origin`: a server that must hear nothing.
 * @param {Mailbox} mailbox
 * @param {string} origin
 */
export function write(mailbox, origin) {
  const put = (/** @type {string} */ folder, /** @type {string} */ id, /** @type {string} */ subject, /** @type {string} */ body, number = 0) =>
    mailbox.put(folder, { id, subject, body: body.replaceAll("URL", origin), type: "text/html", date: day(number), flags: "S" });
  for (const [index, [name, body]] of HOSTILE.entries())
    put("Hostile", `hostile${index}`, name, `<p id=mark>${name} is shown</p>${body}`, 100 - index);
  const port = new URL(origin).port;
  put(
    "Styled",
    "pictures",
    "Two hosts",
    `<style>b{background:url(URL/css.png)}@font-face{font-family:f;src:url(URL/font.woff)}b{font-family` +
      `:f}</style><b>Pictures</b>` +
      `<img src=URL/one.png alt="the first"><img src=http://second.example:${port}/two.png><img src=URL/away.png>` +
      `<img srcset="URL/set.png 1x"><table background=URL/back.png><tr><td>x</table>` +
      `<img src=http://127.0.0.1:${port}/local.png><img src=http://localhost:${port}/local.png>` +
      `<img src="http://*.example/x.png"><img src="http://a;script-src.example/x.png">`,
    90,
  );
  put("Styled", "next", "One host more", "<i>Next</i><img src=URL/next.png alt=next>", 89);
  put("Styled", "links", "Links", `<a id=link href=URL/target>a link</a> <a href=mailto:bo@example.org>mail</a>`, 88);
  put("Styled", "deep", "Too deep", `<p>its words</p>${"<div>".repeat(3000)}deep`, 87);
  put("Styled", "tall", "Grows with the frame", "<style>html:root:root{height:100%!important}body{height:100%;min-height:150vh;margin:40px}</style><p>tall", 86);
  put("Styled", "long", "A long one", "<p>A line of it.</p>".repeat(200), 85);
  const cells = Array.from({ length: 12 }, (_, index) => `<td width=200 style="min-width:100px">cell${index}`);
  put("Styled", "wide", "A wide table", `<table border=1 width=2400><tr>${cells.join("")}</table><p>${"x".repeat(400)}`, 84);
  put("Styled", "rtl", "\u05e9\u05dc\u05d5\u05dd", "<body dir=rtl><p id=mark>\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd</body>", 83);
  put(
    "Styled",
    "dark",
    "Dark",
    "<style>@media (prefers-color-scheme: dark){p{color:#fff}}</style><p id=mark>dark on light",
    82,
  );
  put(
    "Styled",
    "large",
    "A large picture",
    `<p id=mark>Above it</p><img id=large style="width: 1800px; height: 600px; max-width: 1900px" src="data:image/gif;base64,${GIF}">`,
    78,
  );
  put("Styled", "word", "A long word", `<table id=table><tr><td>${"x".repeat(900)}<td>short</table>`, 77);
  mailbox.put("Styled", { id: "both", subject: "Both forms", date: day(81), flags: "S", raw: both() });
  mailbox.put("Styled", { id: "files", subject: "Files", date: day(80), flags: "S", raw: files() });
  mailbox.put("Styled", { id: "odd", subject: "An odd one", date: day(79), flags: "S", raw: odd() });
}

const HEAD = "From: Ana Ito <ana@example.org>\nTo: Bo Berg <bo@example.org>\nMIME-Version: 1.0\n";

/** Text and HTML, with a picture, and one that is none. */
function both() {
  const svg = Buffer.from(SVG.replaceAll("URL", "http://first.example")).toString("base64");
  return (
    `${HEAD}Subject: Both forms\nDate: ${day(81)}\nMessage-ID: <both@example.org>\n` +
    "Content-Type: multipart/related; boundary=r\n\n--r\nContent-Type: multipart/alternative; boundary=a\n\n" +
    "--a\nContent-Type: text/plain\n\nThe plain form.\n--a\nContent-Type: text/html\n\n<b>The rich form.</b>" +
    `<img id=png src="cid:one@x"><img id=svg src="cid:two@x"><img id=data src="data:image/gif;base64,${GIF}">` +
    '<img id=datasvg src="data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E">\n--a--\n' +
    `--r\nContent-Type: image/png; name=logo.png\nContent-ID: <one@x>\nContent-Transfer-Encoding: base64\n\n${PNG}\n` +
    `--r\nContent-Type: image/svg+xml; name=drawing.svg\nContent-ID: <two@x>\nContent-Transfer-Encoding: base64\n\n${svg}\n--r--\n`
  );
}

/** The contents of the attachments, by their names. */
export const FILES = /** @type {Record<string, Buffer>} */ ({
  "photo.png": Buffer.from(PNG, "base64"),
  "page.html": Buffer.from("<script>window.ran=1</script>"),
  "drawing.svg": Buffer.from(SVG),
  "\u00fc b.txt": Buffer.from("text\n"),
});

function files() {
  const types = ["image/png", "text/html", "image/svg+xml", "text/plain"];
  const parts = Object.entries(FILES).map(
    ([name, bytes], index) =>
      `--m\nContent-Type: ${types[index]}\nContent-Disposition: attachment; ` +
        `filename*=UTF-8''${encodeURIComponent(name)}\n` +
      `Content-Transfer-Encoding: base64\n\n${bytes.toString("base64").replace(/.{76}/g, "$&\n")}\n`,
  );
  return (
    `${HEAD}Subject: Files\nDate: ${day(80)}\nMessage-ID: <files@example.org>\nContent-Type: ` +
      `multipart/mixed; boundary=m\n\n` +
    `--m\nContent-Type: text/plain\n\nFour files.\n${parts.join("")}--m--\n`
  );
}

/** A Message-ID with letters that mean something in an address. */
export const ODD_ID = "a/b?c=d&e#f%20+g@example.org";

function odd() {
  return `${HEAD}Subject: An odd one\nDate: ${day(79)}\nMessage-ID: <${ODD_ID}>\n\nAn odd address.\n`;
}
