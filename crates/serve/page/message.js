// One message, for reading. Touches nothing. Knows neither the list nor requests. All that comes from mail is
// text.

import { signal } from "./vendor/signals-core.mjs";
import { ago, long, short } from "./dates.js";
import * as frame from "./frame.js";
import { html } from "./html.js";
import { locale, say } from "./i18n.js";
import { icon } from "./icons.js";
import { blobUrl } from "./jmap.js";
import { copy } from "./lasting.js";
import { fullName, hue, initial } from "./people.js";
import { blocks, isCode, line, textOfHtml, withLinks } from "./text.js";
import { now } from "./store.js";

/**
 * @typedef {import("./rows.js").Person} Person
 * @typedef {{ partId: string | null, blobId: string | null, type: string, name: string | null, size: number }} Part
 * @typedef {{ id: string, blobId: string, subject: string | null, from: Person[] | null,
 *   to: Person[] | null, cc: Person[] | null, receivedAt: string, preview: string, hasAttachment: boolean,
 *   messageId: string[] | null, keywords: Record<string, boolean>, isDeleted?: boolean,
 *   deletedAt?: string | null }} Message
 * @typedef {{ textBody: Part[], htmlBody: Part[], attachments: Part[], inArchive?: boolean | null,
 *   notRead?: { type: string, description?: string } | undefined,
 *   bodyValues: Record<string, { value: string, isTruncated: boolean, isEncodingProblem: boolean }> }} Body
 * @typedef {(message: Message, body: Body | undefined) => import("./html.js").Drawing} Remark What is said above
 *   the text of a message that may be gone.
 */

/** Of more receivers, only the first are shown. */
const PEOPLE_MAX = 4;
/** Larger pictures are not shown small. */
const PICTURE_BYTES_MAX = 2e7;

/**
 * What is not folded as it is at first: quotes and receivers, by message and place.
 * @type {import("./vendor/signals-core.mjs").Signal<Set<string>>}
 */
const turned = signal(new Set());

/** Attached pictures that the browser cannot show. @type {import("./vendor/signals-core.mjs").Signal<Set<string>>} */
const unshown = signal(new Set());

/** Forgets what holds as long as a conversation is open. */
export function forget() {
  frame.forget();
  turned.value = new Set();
  unshown.value = new Set();
}

/**
 * Draws a message. It is one line unless it is open.
 * @param {Message} message
 * @param {Body | undefined} body
 * @param {boolean} isOpen
 * @param {() => void} toggle
 * @param {Remark} remark
 */
export function draw(message, body, isOpen, toggle, remark) {
  const [author] = message.from ?? [];
  const isUnread = !message.keywords["$seen"];
  return html`<article key=${message.id} class=${`message${isOpen ? " unfolded" : ""}${isUnread ? " unread" : ""}`}
    data-message=${message.id} tabindex="-1" aria-label=${author ? fullName(author) : say("noSender")}>
    <header class="message-head" onClick=${toggle}>
      <span class=${`face hue-${hue(author)}`} aria-hidden="true">${initial(author)}</span>
      <div class="message-who">
        <button type="button" class="message-from" aria-expanded=${String(isOpen)}
          onClick=${(/** @type {Event} */ event) => {
            event.stopPropagation();
            toggle();
          }}>
          ${isUnread && html`<span class="dot" role="img" aria-label=${say("isUnread")}></span>`}
          <bdi>${author ? fullName(author) : say("noSender")}</bdi></button>
        ${isOpen && author?.name && html`<bdi class="address">${line(author.email)}</bdi>`}
        ${!isOpen && html`<bdi class="preview">${line(message.preview)}</bdi>`}
      </div>
      ${isOpen && receivers(message)}
      <time dateTime=${message.receivedAt} title=${long(message.receivedAt)}>${
        isOpen
          ? html`<span class="date-long">${long(message.receivedAt)}</span>
          <span class="date-short">${short(message.receivedAt, now.value)}</span>
          <span class="ago">${ago(message.receivedAt, now.value)}</span>`
          : short(message.receivedAt, now.value)
      }</time>
      ${isOpen && body && menu(message, body)}
    </header>
    ${isOpen && html`<div class="message-body">${remark(message, body)}${body ? drawBody(message, body) : ghost()}</div>`}
  </article>`;
}

/** @param {Message} message */
function receivers(message) {
  return html`<div class="receivers">${people(`${message.id}/to`, say("to"), message.to ?? [])}${people(
    `${message.id}/cc`,
    say("cc"),
    message.cc ?? [],
  )}</div>`;
}

/**
 * Draws people on a line; only the first of many, until one wants to see all.
 * @param {string} key
 * @param {string} label
 * @param {Person[]} all
 */
function people(key, label, all) {
  if (all.length === 0) return null;
  const isFolded = all.length > PEOPLE_MAX && !turned.value.has(key);
  const shown = isFolded ? all.slice(0, PEOPLE_MAX - 1) : all;
  const names = shown.map(
    (person, index) => html`${index > 0 && ", "}<bdi title=${line(person.email)}>${fullName(person)}</bdi>`,
  );
  const unfold = (/** @type {Event} */ event) => {
    event.stopPropagation();
    turn(key);
  };
  const more =
    isFolded &&
    html` <button type="button" class="more" onClick=${unfold}
    >${say("more", { count: all.length - shown.length })}</button>`;
  return html`<div class="people"><span class="label">${label}</span> ${names}${more}</div>`;
}

/** Turns something over that is folded or not. @param {string} key */
function turn(key) {
  const next = new Set(turned.value);
  if (!next.delete(key)) next.add(key);
  turned.value = next;
}

function ghost() {
  return html`<div class="ghost" aria-label=${say("loading")} role="img">
    <span class="ghost-line"></span><span class="ghost-line"></span><span class="ghost-line"></span></div>`;
}

/**
 * @param {Message} message
 * @param {Body} body
 */
function drawBody(message, body) {
  // The remark above it says why.
  if (body.notRead) return null;
  const values = body.textBody.flatMap((part) => {
    const value = part.partId === null ? undefined : body.bodyValues[part.partId];
    return value
      ? [{ ...value, part, text: part.type === "text/html" ? textOfHtml(value.value) : value.value }]
      : [];
  });
  const isOfHtml = values.some((value) => value.part.type === "text/html");
  const attached = [...body.attachments, ...body.textBody.filter((part) => !part.type.startsWith("text/"))];
  const shown = attached.filter((part) => !frame.uses(message.id, part.partId));
  const attachments = shown.length > 0 && drawAttachments(shown);
  if (hasHtml(body) && frame.isShown(message.id)) {
    const [author] = message.from ?? [];
    return html`${frame.draw(message.id, author ? fullName(author) : say("noSender"))}${attachments}`;
  }
  const isEmpty = values.every((value) => value.text.trim() === "");
  const isCut = values.some((value) => value.isTruncated);
  return html`
    ${frame.isUnclean(message.id) && html`<p class="remark">${say("unclean")}</p>`}
    ${isOfHtml && html`<p class="remark">${say("fromHtml")}</p>`}
    ${isEmpty && html`<p class="remark">${say("noText")}</p>`}
    ${values.map((value, index) => drawText(`${message.id}/${index}`, value.text))}
    ${
      isCut &&
      html`<p class="remark">${say("cut")} <a download
      href=${blobUrl(message.blobId, "message.eml", "message/rfc822")}>${say("wholeMessage")}</a></p>`
    }
    ${values.some((value) => value.isEncodingProblem) && html`<p class="remark">${say("encoding")}</p>`}
    ${attachments}`;
}

/** Returns whether a message has HTML of its own. @param {Body} body */
function hasHtml(body) {
  return body.htmlBody.some((part) => part.type === "text/html");
}

/**
 * Draws the menu of a message.
 * @param {Message} message
 * @param {Body} body
 */
function menu({ id, blobId, messageId }, body) {
  const shut = (/** @type {any} */ event) => {
    const details = event.currentTarget;
    const isLeft = event.type === "focusout" && !details.contains(event.relatedTarget);
    const isChosen = event.type === "click" && !event.target.closest("summary");
    const isEscape = event.key === "Escape" && details.open;
    if (isEscape) details.firstChild.focus();
    if (isEscape || isChosen || (isLeft && !details.matches(":hover"))) details.open = false;
    if (isEscape || event.type === "click" || event.key === "Enter") event.stopPropagation();
  };
  const own = messageId?.[0];
  const label = say("messageMenu");
  return html`<details class="menu-of" onFocusOut=${shut} onKeyDown=${shut} onClick=${shut}>
    <summary class="plain" aria-label=${label} title=${label}>${icon("dots")}</summary>
    <div>${
      hasHtml(body) &&
      !frame.isUnclean(id) &&
      html`<button type="button" onClick=${() => frame.turn(id)}>${say(frame.isShown(id) ? "showText" : "showHtml")}</button>`
    }${own && html`<button type="button" onClick=${() => copy(own)}>${say("copyAddress")}</button>`}
      <a download href=${blobUrl(blobId, "message.eml", "message/rfc822")}>${say("wholeMessage")}</a></div></details>`;
}

/**
 * @param {string} id
 * @param {string} text
 */
function drawText(id, text) {
  const names = isCode(text) ? "text code" : "text";
  return html`<div key=${id} class=${names}>${blocks(text).map((block, index) => {
    const key = `${id}/${index}`;
    if (block.kind !== "quote")
      return html`<div key=${key} class=${block.kind === "text" ? "block" : "block signature"}>${linked(block.text)}</div>`;
    return quote(key, block);
  })}</div>`;
}

/**
 * @param {string} key
 * @param {import("./text.js").Block} block
 */
function quote(key, block) {
  const isFolded = block.folded !== turned.value.has(key);
  const count = block.text.split("\n").length;
  const toggle = () => turn(key);
  const button =
    (block.folded || count > 3) &&
    html`<button type="button" class="quote-fold" onClick=${toggle}
    aria-expanded=${String(!isFolded)}>${isFolded ? say("quoteShow", { count }) : say("quoteHide")}</button>`;
  return html`<div key=${key} class=${`quote${isFolded ? " folded" : ""}`}>${button}
    ${!isFolded && html`<blockquote class="block">${linked(block.text)}</blockquote>`}</div>`;
}

/** @param {string} text */
function linked(text) {
  return withLinks(text).map((piece, index) =>
    index % 2 === 0
      ? piece
      : html`<a href=${piece} target="_blank" rel="noopener noreferrer" dir="ltr">${piece}</a>`,
  );
}

/** Draws attachments: those that browsers show as pictures. @param {Part[]} parts */
function drawAttachments(parts) {
  const saveAll = (/** @type {Event} */ event) => {
    const section = /** @type {Element} */ (event.currentTarget).closest("section");
    for (const link of section?.querySelectorAll("a") ?? []) link.click();
  };
  return html`<section class="attachments"><h3>${say("attachments", { count: parts.length })}
    ${parts.length > 1 && html` <button type="button" class="more" onClick=${saveAll}>${say("saveAll")}</button>`}</h3>
    <ul role="list">${parts.map((part) => {
      const name = line(part.name) || part.type;
      const url = part.blobId ? blobUrl(part.blobId, name, part.type) : undefined;
      const isSmall = /^image\/(png|jpeg|gif|webp)$/.test(part.type) && part.size < PICTURE_BYTES_MAX;
      const isPicture = isSmall && url !== undefined && !unshown.value.has(url);
      const isBroken = () => {
        unshown.value = new Set(unshown.peek()).add(String(url));
      };
      return html`<li><a download=${name} href=${url}>${
        isPicture ? html`<img src=${url} alt="" loading="lazy" onError=${isBroken} />` : icon("clip")
      }<bdi class="name">${name}</bdi><span class="size">${part.type}, ${size(part.size)}</span></a></li>`;
    })}</ul></section>`;
}

/** @param {number} bytes */
export function size(bytes) {
  const [unit, value] = bytes < 1e6 ? ["kilobyte", bytes / 1000] : ["megabyte", bytes / 1e6];
  const style = { style: "unit", unit: String(unit), maximumFractionDigits: Number(value) < 10 ? 1 : 0 };
  return new Intl.NumberFormat(locale, /** @type {Intl.NumberFormatOptions} */ (style)).format(Number(value));
}
