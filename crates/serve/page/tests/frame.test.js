// A message's own HTML: it looks as it should, runs nothing, and loads nothing that the user did not want.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { HOSTILE } from "./html-mail.js";
import { RichFixture, choose, frameReady, inFrame, letThrough, openRich, untilInFrame } from "./rich.js";
import { listReady, until } from "./support.js";

const fixture = new RichFixture();
const start = fixture.start;

before(fixture.begin);
after(fixture.end);

/** The names of all that a message with pictures could load. */
const ONE = ["/one.png first"];

/** Returns what the other server heard, without its port. */
function heard() {
  return fixture.heard.map(({ url, host }) => `${url} ${host.split(".")[0]}`).sort();
}

test("HTML is shown in a frame without scripts, under a policy of its own", async () => {
  const { page, close } = await start();
  const [reply] = await Promise.all([
    page.waitForResponse(/\/mail\/M\w+\/html$/),
    openRich(page, "Styled", "Both forms"),
  ]);
  const policy = String(await reply.headerValue("content-security-policy"));
  const id = /\/mail\/(M\w+)\//.exec(reply.url())?.[1];
  assert.equal(
    policy.split(/,\s*/)[0],
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; " +
      "sandbox allow-popups allow-popups-to-escape-sandbox allow-same-origin; img-src data: " +
      `${fixture.mailbox.origin}/mail/${id}/image/`,
  );
  for (const [name, value] of [
    ["referrer-policy", "no-referrer"],
    ["x-content-type-options", "nosniff"],
    ["x-frame-options", "SAMEORIGIN"],
    ["content-type", "text/html; charset=utf-8"],
  ])
    assert.equal(await reply.headerValue(String(name)), value);
  const frame = page.locator(".sheet");
  assert.equal(
    await frame.getAttribute("sandbox"),
    "allow-same-origin allow-popups allow-popups-to-escape-sandbox",
  );
  assert.equal(await frame.getAttribute("title"), "Ana Ito");
  assert.equal(await inFrame(page, "found.querySelector('b').textContent"), "The rich form.");
  await close();
});

test("nothing of hostile HTML runs, and nothing is asked of another host", async () => {
  const { page, context, close, wrong } = await start();
  fixture.reset();
  /** @type {string[]} */
  const opened = [];
  context.on("page", (popup) => opened.push(popup.url()));
  await openRich(page, "Hostile", "script");
  for (const [name] of HOSTILE) {
    await until(page, `document.querySelector('#reader h2')?.textContent === '${name}'`);
    await frameReady(page);
    await untilInFrame(page, `found.getElementById('mark')?.textContent === '${name} is shown'`);
    const left = await inFrame(
      page,
      `[...found.querySelectorAll("script, link, base, form, input, iframe, object, embed, svg, video, audio, " +
        "meta[http-equiv], [srcset], [background], [ping], [name]:not(meta)")].map((each) => each.outerHTML)`,
    );
    assert.deepEqual(left, [], name);
    const handlers = await inFrame(
      page,
      `[...found.querySelectorAll("body *")].flatMap((each) => [...each.attributes])
        .filter((each) => /^on|first[.]example/.test(each.name + each.value)).length`,
    );
    assert.equal(handlers, 0, name);
    assert.equal(await inFrame(page, "/url[(]|@import/.test(found.documentElement.outerHTML)"), false, name);
    // What one would click on.
    const go = page.frameLocator(".sheet").locator("#go");
    if ((await go.count()) > 0) await go.first().click();
    await page.keyboard.press("j");
  }
  assert.equal(await page.evaluate("window.ran"), undefined);
  assert.deepEqual(heard(), []);
  assert.equal(fixture.connections, 0);
  assert.deepEqual(opened, []);
  assert.deepEqual(wrong, []);
  await close();
});

test("the frame and its policy keep hostile HTML alone, even if nobody cleans it", async () => {
  const { page, context, close, wrong } = await start();
  fixture.reset();
  let count = 0;
  // Names that hide properties of the document do no more than keep the page from measuring it.
  const uncleaned = HOSTILE.filter(([name]) => name !== "clobbering");
  await context.route(/\/mail\/M\w+\/html$/, async (route) => {
    const response = await route.fetch();
    const body = await response.text();
    const raw = uncleaned.find(([name]) => body.includes(`${name} is shown`));
    if (!raw) return route.fulfill({ response });
    count += 1;
    const source = raw[1].replaceAll("URL", fixture.origin);
    return route.fulfill({ response, body: `${body.split("<body")[0]}<body><p id=mark>${source}` });
  });
  await openRich(page, "Hostile", "script");
  for (const [name] of uncleaned) {
    await until(page, `document.querySelector('#reader h2')?.textContent === '${name}'`);
    // What it does, it does soon.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
    await page.keyboard.press("j");
  }
  assert.equal(count, uncleaned.length);
  assert.equal(await page.evaluate("window.ran"), undefined);
  assert.deepEqual(heard(), []);
  // What the policy forbids, the browser reports; nothing went out.
  assert.deepEqual(wrong.filter((each) => !/Content Security Policy/.test(each)), []);
  assert.ok(wrong.length > 10, "the policy had something to do");
  wrong.length = 0;
  await close();
});

test("pictures of the network are loaded if the user wants it, for this message and from its hosts alone", async () => {
  const { page, context, close, wrong } = await start();
  await letThrough(context);
  fixture.reset();
  await openRich(page, "Styled", "Two hosts");
  assert.equal(await page.locator(".blocked span").textContent(), "Images from 2 hosts are not loaded");
  assert.equal(await inFrame(page, "found.querySelectorAll('img[src]').length"), 0);
  assert.equal(fixture.connections, 0);
  const [reply] = await Promise.all([
    page.waitForResponse(/\/mail\/M\w+\/html\?images=1$/),
    page.getByRole("button", { name: "Load images" }).click(),
  ]);
  await frameReady(page);
  await untilInFrame(page, "[...found.images].filter((each) => each.naturalWidth > 0).length === 2");
  const port = new URL(fixture.origin).port;
  assert.match(
    String(await reply.headerValue("content-security-policy")),
    new RegExp(
      `img-src data: http://127[.]0[.]0[.]1:\\d+/mail/M\\w+/image/ http://first[.]example:${port} ` +
        `http://second[.]example:${port}(,|$)`,
    ),
  );
  // One picture leads elsewhere: its first step is asked for, and no more.
  await until(page, "document.querySelector('.blocked') === null");
  assert.deepEqual(heard(), ["/away.png first", ...ONE, "/two.png second"]);
  assert.ok(fixture.heard.every((each) => each.referer === undefined));
  // The next message, and this one when it is opened again, load nothing.
  wrong.length = 0;
  fixture.reset();
  await page.keyboard.press("j");
  await until(page, "document.querySelector('#reader h2')?.textContent === 'One host more'");
  await frameReady(page);
  await page.getByText("Images from 1 host are not loaded").waitFor();
  await page.keyboard.press("k");
  await until(page, "document.querySelector('#reader h2')?.textContent === 'Two hosts'");
  await frameReady(page);
  await page.getByText("Images from 2 hosts are not loaded").waitFor();
  assert.deepEqual(heard(), []);
  await close();
});

test("a picture that was allowed shows no other message's way out, and going back is one step", async () => {
  const { page, context, close, wrong } = await start({ viewport: { width: 800, height: 700 } });
  await letThrough(context);
  await openRich(page, "Styled", "One host more");
  await page.getByRole("button", { name: "Load images" }).focus();
  await page.keyboard.press("Enter");
  await untilInFrame(page, "found.images[0]?.naturalWidth > 0");
  await page.goBack();
  await until(page, "!location.hash.includes('message') && document.querySelector('#list').offsetHeight > 0");
  assert.deepEqual(wrong, []);
  await close();
});

test("pictures of the message are shown, and SVG never is", async () => {
  const { page, close } = await start();
  await openRich(page, "Styled", "Both forms");
  await untilInFrame(page, "found.getElementById('png').naturalWidth === 1 && found.getElementById('data').naturalWidth === 2");
  const source = String(await inFrame(page, "found.getElementById('png').getAttribute('src')"));
  assert.match(source, /^\/mail\/M\w+\/image\/3$/);
  assert.equal(await inFrame(page, "found.getElementById('svg').hasAttribute('src')"), false);
  assert.equal(await inFrame(page, "found.getElementById('datasvg').hasAttribute('src')"), false);
  const status = (/** @type {string} */ path) => page.evaluate(`fetch(${JSON.stringify(path)}).then((each) => each.status)`);
  assert.equal(await status(source), 200);
  assert.equal(await status(source.replace(/3$/, "4")), 404);
  assert.equal(await status(source.replace(/3$/, "2")), 404);
  // What the HTML shows is no attachment; the text shows nothing.
  assert.deepEqual(await page.locator(".attachments .name").allTextContents(), ["drawing.svg"]);
  await choose(page, "Show as text");
  await page.locator(".message .block", { hasText: "The plain form." }).waitFor();
  assert.deepEqual(await page.locator(".attachments .name").allTextContents(), ["logo.png", "drawing.svg"]);
  await choose(page, "Show as HTML");
  await frameReady(page);
  await close();
});

test("links open a tab of their own that knows neither the page nor its address", async () => {
  const { page, context, close } = await start();
  await letThrough(context);
  fixture.reset();
  await openRich(page, "Styled", "Links");
  const link = page.frameLocator(".sheet").locator("#link");
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  const [popup] = await Promise.all([context.waitForEvent("page"), link.click()]);
  await popup.getByText("arrived").waitFor();
  assert.equal(await popup.evaluate("window.opener"), null);
  assert.deepEqual(
    fixture.heard.filter((each) => each.url === "/target").map((each) => each.referer),
    [undefined],
  );
  assert.match(page.url(), /message/);
  await close();
});

test("HTML that is nested too deeply is shown as text, with a note", async () => {
  const { page, close } = await start();
  await openRich(page, "Styled", "Links");
  await page.keyboard.press("j");
  await page.getByText("The HTML of this message is too large or nested too deeply.").waitFor();
  assert.match(String(await page.locator(".message .text").textContent()), /^its words\s+deep$/);
  assert.equal(await page.locator(".sheet").count(), 0);
  await page.locator(".menu-of summary").click();
  assert.equal(await page.locator(".menu-of").getByText("Show as HTML").count(), 0);
  await close();
});

test("a frame is as high as its message, and scrolls with the conversation", async () => {
  const { page, close } = await start();
  await openRich(page, "Styled", "A long one");
  const height = await page.locator(".sheet").evaluate((element) => element.clientHeight);
  assert.ok(height > 4000, `${height}`);
  assert.equal(await inFrame(page, "found.documentElement.scrollHeight - found.documentElement.clientHeight"), 0);
  // The wheel over the frame moves the conversation.
  await page.locator(".sheet").hover({ position: { x: 50, y: 50 } });
  await page.mouse.wheel(0, 600);
  await until(page, "document.getElementById('messages').scrollTop > 300");
  await close();
});

test("a message that is as high as its frame does not grow for ever", async () => {
  const { page, close } = await start();
  await openRich(page, "Styled", "Grows with the frame");
  const height = () => page.locator(".sheet").evaluate((element) => element.clientHeight);
  const first = await height();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)));
  assert.equal(await height(), first);
  assert.ok(first < 300, `${first}`);
  await close();
});

test("a wide table does not widen the page at 320 pixels", async () => {
  const { page, close } = await start({ viewport: { width: 320, height: 640 } });
  await page.getByRole("button", { name: "Show mailboxes" }).click();
  await openRich(page, "Styled", "A wide table");
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
  assert.equal(await page.evaluate("document.getElementById('messages').scrollWidth <= 320"), true);
  const right = await page.locator(".sheet").evaluate((element) => element.getBoundingClientRect().right);
  assert.ok(right <= 320, `${right}`);
  // It is made smaller, and what is left scrolls to the side, in the frame.
  assert.equal(await inFrame(page, "found.documentElement.style.zoom"), "0.5");
  assert.equal(await inFrame(page, "getComputedStyle(found.documentElement).overflowX"), "auto");
  await close();
});

test("a picture that says how wide it is makes no mail small, and keeps its shape", async () => {
  const { page, close } = await start();
  await openRich(page, "Styled", "A large picture");
  await untilInFrame(page, "found.getElementById('large').naturalWidth === 2");
  await untilInFrame(page, "found.documentElement.style.zoom === '1'");
  const [width, height, room] = /** @type {number[]} */ (
    await inFrame(page, "[...['width', 'height'].map((each) => found.getElementById('large')[each]), innerWidth]")
  );
  assert.equal(width, height);
  assert.ok(Number(width) > 300 && Number(width) <= Number(room), `${width}`);
  await close();
});

test("a word that is longer than the mail is wide breaks", async () => {
  const { page, close } = await start();
  await openRich(page, "Styled", "A long word");
  assert.equal(await inFrame(page, "found.documentElement.style.zoom"), "1");
  assert.equal(await inFrame(page, "found.documentElement.scrollWidth > found.documentElement.clientWidth"), false);
  // Where words are not why, they stay whole.
  await openRich(page, "Styled", "A wide table");
  assert.equal(await inFrame(page, "found.body.style.overflowWrap"), "");
  await close();
});

test("on a narrow screen an address has the whole width", async () => {
  const { page, close } = await start({ viewport: { width: 360, height: 640 } });
  await page.getByRole("button", { name: "Show mailboxes" }).click();
  await openRich(page, "Styled", "A large picture");
  const box = (/** @type {string} */ css) => page.locator(css).evaluate((each) => each.getBoundingClientRect().toJSON());
  const [name, address, time] = [await box(".message-from"), await box(".message-who .address"), await box(".message-head time")];
  assert.ok(address.top >= Math.max(name.bottom, time.bottom) - 1, JSON.stringify([name, address, time]));
  assert.ok(address.right >= time.right, JSON.stringify([address, time]));
  assert.ok(name.right <= time.left && Math.abs(name.top - time.top) < 12);
  await close();
});

test("text from right to left is", async () => {
  const { page, close } = await start();
  await openRich(page, "Styled", "\u05e9\u05dc\u05d5\u05dd");
  assert.equal(await inFrame(page, "getComputedStyle(found.getElementById('mark')).direction"), "rtl");
  const side = await inFrame(
    page,
    `(() => {
      const range = found.createRange();
      range.selectNodeContents(found.getElementById("mark"));
      const at = range.getBoundingClientRect();
      return at.left > found.documentElement.clientWidth - at.right;
    })()`,
  );
  assert.equal(side, true);
  await close();
});

test("in the dark, mail lies on a light sheet", async () => {
  const { page, close } = await start({ colorScheme: "dark" });
  await openRich(page, "Styled", "Dark");
  assert.equal(await inFrame(page, "getComputedStyle(found.documentElement).backgroundColor"), "rgb(255, 255, 255)");
  assert.equal(await inFrame(page, "getComputedStyle(found.getElementById('mark')).color"), "rgb(27, 31, 36)");
  assert.equal(await page.evaluate("getComputedStyle(document.getElementById('reader')).color"), "rgb(221, 226, 232)");
  await close();
});

test("on paper there is the message, as wide as paper, and nothing else", async () => {
  const { page, close } = await start();
  await openRich(page, "Styled", "A wide table");
  await page.emulateMedia({ media: "print" });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  const shown = (/** @type {string} */ selector) => page.locator(selector).first().isVisible();
  assert.equal(await shown(".sheet"), true);
  for (const selector of ["#bar", "#list", "#mailboxes", ".menu-of"]) assert.equal(await shown(selector), false, selector);
  assert.equal(await page.locator(".sheet").evaluate((element) => element.clientWidth), 672);
  assert.equal(await page.evaluate("getComputedStyle(document.body).overflow"), "visible");
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  await page.emulateMedia({ media: "screen" });
  assert.notEqual(await page.locator(".sheet").evaluate((element) => element.clientWidth), 672);
  await close();
});

test("keys are those of the page, also with the focus in the frame", async () => {
  const { page, close } = await start({ viewport: { width: 800, height: 700 } });
  await openRich(page, "Styled", "Two hosts");
  await page.frameLocator(".sheet").locator("b").click();
  assert.equal(await page.evaluate("document.activeElement.tagName"), "IFRAME");
  await page.keyboard.press("j");
  await until(page, "document.querySelector('#reader h2')?.textContent === 'One host more'");
  await frameReady(page);
  await page.frameLocator(".sheet").locator("i").click();
  await page.keyboard.press("u");
  await until(page, "!location.hash.includes('message')");
  await listReady(page);
  await close();
});

test("the bar speaks German to those who do", async () => {
  const { page, close } = await start({ locale: "de-DE" });
  await openRich(page, "Styled", "Two hosts");
  await page.getByText("Bilder von 2 Servern sind nicht geladen").waitFor();
  await page.getByRole("button", { name: "Bilder laden" }).waitFor();
  await close();
});
