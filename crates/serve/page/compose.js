// Writing a message: the dialog, what becomes of it while one types, and when it is sent. Touches its dialog.
// Is loaded when it is needed: see writing.js.

import { effect, signal } from "./vendor/signals-core.mjs";
import { ask, tell } from "./ask.js";
import { FIELDS, answer, begun, draftOf, lacksFile, readPeople, signed, without } from "./compose-model.js";
import { fetchEmail, fetchIdentities, forget, hold, keep, left, openStored, send, store } from "./draft.js";
import { html } from "./html.js";
import { say } from "./i18n.js";
import { icon } from "./icons.js";
import { Refused, Unreachable, connection, request, upload } from "./jmap.js";
import { draw as drawReceivers } from "./receivers.js";
import { size } from "./message.js";
import { attempt, offer, withdraw } from "./undo.js";

/** @typedef {import("./compose-model.js").Draft} Draft @typedef {import("./compose-model.js").Kind} Kind */

/** After this time without typing, a draft is stored; for that time, a message can be taken back. */
const SAVE_MS = 2000;
const SEND_MS = 5000;

/** @type {import("./vendor/signals-core.mjs").Signal<Draft | null>} */
const current = signal(null);
const identities = signal(/** @type {import("./compose-model.js").Identity[]} */ ([]));
/** Fields that are shown though they are empty. */
const isWide = signal(false);
const uploads = signal(0);
/** Why it was not sent or stored. */
const problem = signal("");
/** The message that is about to be sent. @type {Draft | null} */
let outgoing = null;
let timer = 0;
/** @type {Promise<boolean> | null} */
let saving = null;

const element = () => /** @type {HTMLDialogElement} */ (document.getElementById("compose"));
const isUnsaved = (/** @type {Draft | null} */ draft) =>
  draft !== null && draft.revision !== draft.savedRevision;

/** Begins a new message. */
export const composeNew = () => begin(async () => begun(draftOf(), identities.peek()));
/** Opens a stored draft. @param {string} id */
export const composeStored = (id) => begin(() => openStored(id));
/** Answers or forwards an email. @param {Kind} kind @param {string} id */
export const composeAnswer = (kind, id) =>
  begin(async () => begun(answer(kind, await fetchEmail(id), identities.peek()), identities.peek()));

/** @param {() => Promise<Draft>} make */
function begin(make) {
  if (current.peek()) return;
  return attempt(async () => {
    identities.value = await fetchIdentities();
    show(await make());
  });
}

/** @param {Draft} draft @param {string} [why] */
function show(draft, why = "") {
  hold(draft);
  problem.value = why;
  isWide.value = false;
  current.value = draft.identityId ? draft : { ...draft, identityId: identities.peek()[0]?.id ?? "" };
}

/** Offers drafts that were left when the browser or the server ended, once the server is there. */
export function recover() {
  const stop = effect(() => {
    if (connection.value !== "online") return;
    queueMicrotask(() => stop());
    void attempt(async () => {
      await fetchIdentities();
      for (const draft of await left()) {
        if (!isUnsaved(draft)) forget(draft);
        else {
          hold(draft);
          const stored = (await store(draft))(draft);
          forget(draft);
          tell(say("recovered"), say("open"), () => void composeStored(stored.emailId));
        }
      }
    });
  });
}

/** Takes over what was changed. @param {Partial<Draft>} change */
function edit(change) {
  const before = current.peek();
  if (!before) return;
  const draft = { ...before, ...change, revision: before.revision + 1 };
  current.value = draft;
  keep(draft);
  clearTimeout(timer);
  timer = window.setTimeout(() => void save(), SAVE_MS);
}

/** Waits until no draft is being stored: two at once would leave one behind. */
async function settled() {
  while (saving) await saving;
}

/** Stores the draft. Returns whether all of it is stored. @returns {Promise<boolean>} */
async function save() {
  clearTimeout(timer);
  await settled();
  const draft = current.peek();
  if (!draft || !isUnsaved(draft)) return true;
  const work = async () => {
    try {
      take(draft, await store(draft));
      problem.value = "";
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      problem.value = say("notSaved", { reason: error.message });
    } finally {
      saving = null;
    }
    return !isUnsaved(current.peek());
  };
  saving = work();
  const isDone = await saving;
  if (isUnsaved(current.peek())) timer = window.setTimeout(() => void save(), SAVE_MS);
  return isDone;
}

/** @param {Draft} draft @param {(now: Draft) => Draft} change */
function take({ key }, change) {
  const draft = current.peek();
  if (draft?.key !== key) return;
  current.value = change(draft);
  keep(current.value);
}

async function close() {
  if (!(await save()) && !(await ask(say("closeAsk"), say("closeAnyway")))) return;
  const draft = current.peek();
  hide();
  if (draft && !isUnsaved(draft)) forget(draft);
}

function hide() {
  clearTimeout(timer);
  current.value = null;
}

async function discard() {
  const before = current.peek();
  const isEmpty = before?.revision === 0 && !before.emailId;
  if (!isEmpty && !(await ask(say("discardAsk"), say("discard")))) return;
  // While one was asked, the draft may have been stored once more.
  clearTimeout(timer);
  await settled();
  const draft = current.peek();
  if (!draft) return;
  hide();
  forget(draft);
  const stale = [...draft.stale, draft.emailId].filter(Boolean);
  if (stale.length > 0) await attempt(() => request([["Email/set", { destroy: stale }]]));
}

/** Sends the message, after a while in which that can be taken back. */
async function submit() {
  for (const field of FIELDS) {
    const [people, rest] = readPeople(current.peek()?.rest[field] ?? "");
    const draft = /** @type {Draft} */ (current.peek());
    if (people.length > 0)
      edit({ [field]: without([...draft[field], ...people]), rest: { ...draft.rest, [field]: rest } });
  }
  const draft = current.peek();
  if (!draft || uploads.peek() > 0) return;
  const wrong = FIELDS.map((field) => draft.rest[field].trim()).find(Boolean);
  if (wrong) problem.value = say("noAddress", { text: wrong });
  else if (FIELDS.every((field) => draft[field].length === 0)) problem.value = say("noReceiver");
  else if (!lacksFile(draft) || (await ask(say("lacksFile"), say("sendAnyway")))) await sendSoon();
}

async function sendSoon() {
  clearTimeout(timer);
  await settled();
  const draft = current.peek();
  if (!draft) return;
  const waiting = { ...draft, revision: draft.revision + 1 };
  keep(waiting);
  hide();
  outgoing = waiting;
  const cancel = () => {
    clearTimeout(sendTimer);
    outgoing = null;
    tell("");
    show(waiting);
  };
  const sendTimer = window.setTimeout(() => {
    withdraw(cancel);
    void transmit(waiting);
  }, SEND_MS);
  offer(say("sending"), cancel);
}

/** @param {Draft} draft */
async function transmit(draft) {
  let stored = draft;
  try {
    await send(draft, (change) => {
      stored = change(draft);
      keep(stored);
    });
    forget(draft);
    tell(say("isSent"));
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
    const why = say(error instanceof Refused ? "notSent" : "sendUnsure", { reason: error.message });
    // Another message may be open by now: the draft stays where it is stored.
    if (current.peek()) tell(why);
    else show(stored, why);
  } finally {
    outgoing = null;
  }
}

/** @param {Iterable<File>} files */
async function attach(files) {
  for (const file of files) {
    uploads.value += 1;
    try {
      const { blobId, size: bytes } = await upload(file);
      const type = file.type || "application/octet-stream";
      edit({ files: [...(current.peek()?.files ?? []), { blobId, type, name: file.name, size: bytes }] });
    } catch (error) {
      problem.value = say("notDone", { reason: /** @type {Error} */ (error).message });
    }
    uploads.value -= 1;
  }
}

/** Opens and closes the dialog, and warns who leaves the page too early. */
export function followDraft() {
  const dialog = element();
  const draft = current.value;
  if (draft && !dialog.open) {
    dialog.showModal();
    const text = dialog.querySelector("textarea");
    if (draft.to.length > 0) text?.focus();
    else dialog.querySelector("input")?.focus();
    text?.setSelectionRange(0, 0);
  }
  if (!draft && dialog.open) dialog.close();
  // A browser may close a dialog on its own at the second request.
  dialog.oncancel = (event) => {
    event.preventDefault();
    void close();
  };
  dialog.onclose = () => {
    if (!current.peek() || dialog.open) return;
    dialog.showModal();
    void close();
  };
  window.onbeforeunload = (event) => {
    if (outgoing || isUnsaved(current.peek())) event.preventDefault();
  };
}

/** Draws the dialog. */
export function draw() {
  const draft = current.value;
  if (!draft) return null;
  const shown = FIELDS.filter((field) => field === "to" || isWide.value || draft[field].length > 0);
  const drop = (/** @type {DragEvent | ClipboardEvent} */ event) => {
    const files = ("dataTransfer" in event ? event.dataTransfer : event.clipboardData)?.files;
    if (!files || files.length === 0) return;
    event.preventDefault();
    void attach(files);
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit();
    else if (event.key === "Escape") (event.preventDefault(), void close());
  };
  const set = (/** @type {"subject" | "text"} */ name) => (/** @type {Event} */ event) =>
    edit({ [name]: /** @type {HTMLInputElement} */ (event.currentTarget).value });
  const setIdentity = (/** @type {Event} */ event) => {
    const identityId = /** @type {HTMLSelectElement} */ (event.currentTarget).value;
    const of = (/** @type {string} */ one) => identities.peek().find(({ id }) => id === one);
    edit({ identityId, text: signed(draft.text, of(draft.identityId), of(identityId)) });
  };
  const state = uploads.value > 0 ? "uploading" : isUnsaved(draft) ? "unsaved" : draft.emailId ? "saved" : "";
  return html`<form class="composer" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), void submit())}
    onKeyDown=${key} onPaste=${drop} onDrop=${drop} onDragOver=${(/** @type {Event} */ event) => event.preventDefault()}>
    <header><h2 id="compose-title">${draft.subject || say("compose")}</h2>
      <span class="count" role="status">${state && say(state)}</span>
      <button type="button" class="plain" aria-label=${say("close")} title=${`${say("close")} (Esc)`}
        onClick=${() => void close()}>${icon("close")}</button></header>
    <p class="problem" role="alert">${problem.value}</p>
    ${
      identities.value.length > 1 &&
      html`<div class="receiver"><label for="from">${say("from")}</label><select id="from" value=${draft.identityId}
        onChange=${setIdentity}>${identities.value.map(
          ({ id, name, email }) => html`<option value=${id}>${name ? `${name} <${email}>` : email}</option>`,
        )}</select></div>`
    }
    ${shown.map((field) =>
      drawReceivers(field, draft[field], draft.rest[field], (people, rest) => {
        if (people.length !== draft[field].length || rest !== draft.rest[field])
          edit({ [field]: people, rest: { ...draft.rest, [field]: rest } });
      }),
    )}
    <div class="receiver"><label for="subject">${say("subject")}</label><input id="subject" autocomplete="off" dir="auto"
      value=${draft.subject} onInput=${set("subject")} />
      ${
        shown.length < FIELDS.length &&
        html`<button type="button" class="more" onClick=${() => {
          isWide.value = true;
        }}>${say("cc")}/${say("bcc")}</button>`
      }</div>
    <textarea aria-label=${say("text")} dir="auto" value=${draft.text} onInput=${set("text")}></textarea>
    ${
      draft.files.length > 0 &&
      html`<ul class="files" role="list" aria-label=${say("attachments", { count: draft.files.length })}>${draft.files.map(
        (
          file,
        ) => html`<li class="chip">${icon("clip")}<bdi>${file.name}</bdi> <span class="size">${size(file.size)}</span>
          <button type="button" aria-label=${say("remove", { name: file.name })} onClick=${() =>
            edit({ files: draft.files.filter((each) => each !== file) })}>${icon("close")}</button></li>`,
      )}</ul>`
    }
    <footer><button class="button main" disabled=${uploads.value > 0} title=${`${say("send")} (Ctrl+Enter)`}>${say("send")}</button>
      <label class="button attach" title=${say("attach")}>${icon("clip")}<input type="file" multiple class="unseen"
        aria-label=${say("attach")} onChange=${(/** @type {Event} */ event) => {
          const input = /** @type {HTMLInputElement} */ (event.currentTarget);
          void attach([...(input.files ?? [])]).then(() => {
            input.value = "";
          });
        }} /></label>
      <button type="button" class="plain discard" aria-label=${say("discard")} title=${say("discard")}
        onClick=${() => void discard()}>${icon("trash")}</button></footer></form>`;
}
