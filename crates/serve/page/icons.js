// Drawings for buttons and marks. They are beside words or have a name elsewhere. Pure.

import { html } from "./html.js";

/** Strokes in a square of 24. */
const PATHS = {
  menu: "M4 6.5h16M4 12h16M4 17.5h16",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13a6.5 6.5 0 0 1 0-13M15.3 15.3L20 20",
  close: "M6 6l12 12M18 6L6 18",
  back: "M14.5 5.5L8 12l6.5 6.5",
  keyboard:
    "M3 7.5A1.5 1.5 0 0 1 4.5 6h15A1.5 1.5 0 0 1 21 7.5v9a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 16.5zM6.5 9.7h.01M10.2 9.7h.01M13.9 9.7h.01M17.5 9.7h.01M6.5 12.4h.01M10.2 12.4h.01M13.9 12.4h.01M17.5 12.4h.01M8.5 15.2h7",
  clip: "M19 11.5l-7.3 7.3a4.4 4.4 0 0 1-6.2-6.2l7.9-7.9a3 3 0 0 1 4.2 4.2l-7.8 7.8a1.5 1.5 0 0 1-2.1-2.1l6.9-6.9",
  flag: "M6 21V4.5M6 5h11.5l-2.6 4.2 2.6 4.3H6",
  reply: "M10 6L4.5 11.5L10 17M5 11.5h8.5a6 6 0 0 1 6 6v.5",
  forward: "M14 6l5.5 5.5L14 17M19 11.5h-8.5a6 6 0 0 0-6 6v.5",
  replyAll: "M13 6L7.5 11.5L13 17M8 11.5h6.5a6 6 0 0 1 6 6v.5M8.5 6L3 11.5L8.5 17",
  inbox:
    "M4 13.5l2.6-7.6A1.4 1.4 0 0 1 8 5h8a1.4 1.4 0 0 1 1.4.9L20 13.5V18a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM4 13.5h4.8l1.4 2.5h3.6l1.4-2.5H20",
  all: "M4 7a1 1 0 0 1 1-1h14a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM4.5 7l7.5 6 7.5-6",
  folder:
    "M3.5 7a1.5 1.5 0 0 1 1.5-1.5h4.2l2 2.2H19a1.5 1.5 0 0 1 1.5 1.5V17a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 17z",
  sent: "M20 4L10.8 13.2M20 4l-5.8 16-3.4-6.8L4 9.8z",
  drafts: "M5 19l1-4L16.2 4.8a1.8 1.8 0 0 1 2.6 0l.4.4a1.8 1.8 0 0 1 0 2.6L9 18z",
  trash: "M5 7h14M10 7V5h4v2M7 7l.8 12h8.4L17 7M10.3 10.5l.3 5M13.7 10.5l-.3 5",
  archive: "M4 5h16v4H4zM5.5 9v9.5h13V9M10 12.5h4",
  junk: "M8.3 3.5h7.4l4.8 4.8v7.4l-4.8 4.8H8.3l-4.8-4.8V8.3zM12 8v5M12 16h.01",
  unread:
    "M4 8.5V17a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1V9.5M4.5 8l7.5 5.5L16 10.5M4.5 7H14M18.5 4.5a2 2 0 1 1 0 4a2 2 0 0 1 0-4",
  read: "M4 10l8-6 8 6v8a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM4.5 10.5l7.5 5 7.5-5",
  tag: "M4 4.5h7.5l8 8-7 7-8.5-8zM8 8.5h.01",
  check: "M5 12.5l4.5 4.5L19 7.5",
  picture: "M4 5.5h16v13H4zM4.5 16l4.5-4.5 4 4 2.5-2.5 4 4M15.5 9h.01",
  dots: "M6 12h.01M12 12h.01M18 12h.01",
  chevron: "M9 6l6 6-6 6",
  gone: "M5 7h14M10 7V5h4v2M7 7l.8 12h8.4L17 7M10 11.2l4 4M14 11.2l-4 4",
  moment: "M12 4a8 8 0 1 1 0 16a8 8 0 0 1 0-16M12 7.5V12l3 2",
  history: "M5.2 9.5a7.5 7.5 0 1 1-.7 3.5M4.5 5.5v4.2h4.2M12 8v4.3l2.8 1.7",
  statistics: "M4 19.5h16M6.5 16.5v-5M12 16.5V5M17.5 16.5V9",
  restore: "M5 7h14M7 7l.8 12h8.4L17 7M12 16.5v-5.5M9.5 13L12 10.5l2.5 2.5M10 7V5h4v2",
  star: "M12 4.2l2.4 4.9 5.4.8-3.9 3.8.9 5.4-4.8-2.6-4.8 2.6.9-5.4-3.9-3.8 5.4-.8z",
  person: "M12 4.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 0 1 0-7M5 19.5a7 7 0 0 1 14 0",
  filter: "M4 6h16M7 12h10M10 18h4",
  date: "M4.5 6.5h15v13h-15zM4.5 10.5h15M8.5 4v4M15.5 4v4",
};

/** @typedef {keyof typeof PATHS} Icon */

/** @param {Icon} name */
export function icon(name) {
  return html`<svg class=${`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}
