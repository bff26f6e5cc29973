// A message's own HTML, in a frame in which nothing runs. Touches its frames, and measures what is in them.
// The server cleans the HTML, and says in its head whose pictures it left out. Knows no requests.

import { signal } from "./vendor/signals-core.mjs";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";

/** @typedef {{ hosts: string[] | null, used: Set<string> }} Told Without hosts it could not be cleaned. */

/** Wider mail is made smaller, down to this; then it scrolls to the side. */
const SCALE_MIN = 0.5;
/** Words break if mail gets narrower by this factor at least. */
const BREAK_MIN = 1.2;
/** Of how many messages it is known what their documents said, and that they are shown as text. */
const TOLD_MAX = 200;
/** A document that changes more often at one width is left as it is. */
const FITS_MAX = 60;

/** @type {import("./vendor/signals-core.mjs").Signal<Map<string, Told>>} */
const told = signal(new Map());
/** Messages whose pictures are loaded. @type {import("./vendor/signals-core.mjs").Signal<Set<string>>} */
const loaded = signal(new Set());
/** Messages that are shown as text. @type {import("./vendor/signals-core.mjs").Signal<Set<string>>} */
const asText = signal(new Set());

/** Forgets what was allowed: it holds as long as a conversation is open. The newest of the rest stays. */
export function forget() {
  loaded.value = new Set();
  told.value = new Map([...told.value].slice(-TOLD_MAX));
  asText.value = new Set([...asText.value].slice(-TOLD_MAX));
}

/** @param {string} id */
export function isShown(id) {
  return !asText.value.has(id) && !isUnclean(id);
}

/** @param {string} id */
export function isUnclean(id) {
  return told.value.get(id)?.hosts === null;
}

/** Returns whether HTML that is shown shows a part. @param {string} id @param {string | null} partId */
export function uses(id, partId) {
  return isShown(id) && told.value.get(id)?.used.has(String(partId));
}

/** Shows text in the place of HTML, or the other way round. @param {string} id */
export function turn(id) {
  const next = new Set(asText.value);
  if (!next.delete(id)) next.add(id);
  asText.value = next;
}

/** @param {string} id @param {string} title */
export function draw(id, title) {
  const isLoaded = loaded.value.has(id);
  const hosts = told.value.get(id)?.hosts ?? [];
  const load = () => {
    loaded.value = new Set(loaded.value).add(id);
  };
  // Another address is another frame: a frame that goes elsewhere would be a step to go back from.
  const source = `/mail/${id}/html${isLoaded ? "?images=1" : ""}`;
  return html`${
    !isLoaded &&
    hosts.length > 0 &&
    html`<p class="blocked" title=${hosts.join(", ")}>${icon("picture")}<span>${say("imagesBlocked", { count: hosts.length })}</span>
    <button type="button" onClick=${load}>${say("imagesLoad")}</button></p>`
  }<iframe key=${source} class="sheet" title=${title} src=${source} scrolling="no" referrerpolicy="no-referrer"
    sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
    onLoad=${(/** @type {any} */ event) => begin(id, event.currentTarget)}></iframe>`;
}

/** Reads what a document says, and follows it. @param {string} id @param {HTMLIFrameElement} frame */
function begin(id, frame) {
  const found = frame.contentDocument;
  const hosts = found?.querySelector("meta[name=hosts]")?.getAttribute("content")?.split(" ").filter(Boolean);
  const sources = [...(found?.images ?? [])].map((each) => each.getAttribute("src") ?? "");
  const used = new Set(sources.map((each) => /^\/mail\/.*\/(\d+)$/.exec(each)?.[1] ?? ""));
  told.value = new Map(told.value).set(id, { hosts: hosts ?? null, used });
  if (!found || !hosts) return;
  let width = 0;
  let count = 0;
  const observer = new ResizeObserver(() => {
    count = frame.clientWidth === width ? count + 1 : 0;
    width = frame.clientWidth;
    if (width > 0 && count < FITS_MAX) fit(frame);
  });
  observer.observe(found.documentElement);
  observer.observe(frame);
  fit(frame);
  found.addEventListener("keydown", (event) => {
    // Keys are those of the page, but for those of links.
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (["Enter", "Tab", " "].includes(key)) return;
    const again = { key, ctrlKey, metaKey, altKey, shiftKey, bubbles: true, cancelable: true };
    if (!frame.dispatchEvent(new KeyboardEvent("keydown", again))) event.preventDefault();
  });
}

/** Makes a frame as high as its document, and that as narrow as the frame. @param {HTMLIFrameElement} frame */
function fit(frame) {
  const { documentElement: root, body, images } = frame.contentDocument ?? {};
  if (!root || !body || !images) return;
  root.style.zoom = "1";
  root.style.overflowX = "";
  body.style.overflowWrap = "";
  const scaled = () => frame.clientWidth / root.scrollWidth;
  if (scaled() < 1) for (const image of images) if (image.width > frame.clientWidth) narrow(image);
  let scale = scaled();
  if (scale < SCALE_MIN) {
    // A word of a table may be longer than all the rest is wide. If that is why, words break.
    body.style.overflowWrap = "anywhere";
    if (scaled() < scale * BREAK_MIN) body.style.overflowWrap = "";
    else scale = scaled();
  }
  if (scale < 1) root.style.zoom = String(Math.max(scale, SCALE_MIN));
  if (scale < SCALE_MIN) root.style.overflowX = "auto";
  const height = Math.ceil(root.getBoundingClientRect().height) + (scale < SCALE_MIN ? 16 : 0);
  frame.style.height = `${height}px`;
  // What is placed outside of the text counts too.
  if (root.scrollHeight > height) frame.style.height = `${root.scrollHeight}px`;
}

/** Makes a picture no wider than its place, whatever it says of itself, and keeps its shape. @param {HTMLImageElement} image */
function narrow({ style }) {
  style.setProperty("max-width", "100%", "important");
  style.setProperty("height", "auto", "important");
}

/** On paper, frames have another width: the style says which. */
export function listen() {
  for (const name of ["beforeprint", "afterprint"])
    addEventListener(name, () => {
      document.body.classList.toggle("paper", name === "beforeprint");
      document.querySelectorAll("iframe").forEach(fit);
    });
}
