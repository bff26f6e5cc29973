// Runs in the page before its scripts: takes the times at which something is on the screen. Changes nothing.

/**
 * @typedef {{ firstPaint: number, listShown: number, nextShown: number, found: number, isOpen: () => boolean,
 *   awaitNext: () => void, awaitFound: (words: string) => void, beginFrames: () => void,
 *   endFrames: () => number[] }} Speed
 */

/** It is given to the browser as text, so that it has all that it needs within. */
export function watch() {
  /**
   * What is waited for: a condition, and what gets the time of the frame that shows it.
   * @type {[() => boolean, (ms: number) => void][]}
   */
  let awaited = [];
  /** @type {number[]} */
  let frames = [];
  let isCounting = false;
  const find = (/** @type {string} */ css) => document.querySelector(css);
  // A frame is shown when a task after it runs.
  const shown = (/** @type {(ms: number) => void} */ done) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done(performance.now());
      port2.postMessage(0);
    });
  const check = () => {
    const ready = awaited.filter(([condition]) => condition());
    awaited = awaited.filter((each) => !ready.includes(each));
    for (const [, done] of ready) shown(done);
  };
  const hasRows = () => find("#list .row a") !== null && find("#list .row.ghost") === null;
  const opened = () => find("#messages [data-message]")?.getAttribute("data-message");
  const isOpen = () => {
    const bodies = [...document.querySelectorAll("#messages .message.unfolded")];
    const isThere = (/** @type {Element} */ each) => {
      const frame = /** @type {HTMLIFrameElement | null} */ (each.querySelector(".sheet"));
      return frame
        ? frame.style.height !== ""
        : each.querySelector(".message-body:not(:has(.ghost))") !== null;
    };
    return bodies.length > 0 && bodies.every(isThere);
  };
  /** @type {Speed} */
  const speed = {
    firstPaint: 0,
    listShown: 0,
    nextShown: 0,
    found: 0,
    isOpen,
    awaitNext() {
      const before = opened();
      speed.nextShown = 0;
      let pressed = 0;
      addEventListener("keydown", (event) => (pressed = event.timeStamp), { once: true, capture: true });
      const isNext = () => opened() !== undefined && opened() !== before && isOpen();
      awaited.push([isNext, (ms) => (speed.nextShown = ms - pressed)]);
    },
    awaitFound(words) {
      speed.found = 0;
      let typed = 0;
      addEventListener("input", (event) => (typed = event.timeStamp), { capture: true });
      const heading = () => find(".list-head h1")?.textContent ?? "";
      const isFound = () => heading().includes(`“${words}”`) && hasRows();
      awaited.push([isFound, (ms) => (speed.found = ms - typed)]);
    },
    beginFrames() {
      frames = [];
      isCounting = true;
      let before = performance.now();
      const step = () => {
        const now = performance.now();
        frames.push(now - before);
        before = now;
        if (isCounting) requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    },
    endFrames() {
      isCounting = false;
      return frames.slice(1);
    },
  };
  window.speed = speed;
  awaited.push([hasRows, (ms) => (speed.listShown = ms)]);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntriesByName("first-contentful-paint")) speed.firstPaint = entry.startTime;
  }).observe({ type: "paint", buffered: true });
  // Frames of mail change by their style, and nodes do not move in them.
  const observer = new MutationObserver(check);
  const what = { childList: true, subtree: true, attributes: true, characterData: true };
  observer.observe(document, what);
}
