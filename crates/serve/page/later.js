// What is loaded when it is needed, with its styles. Touches the head of the page. Knows no parts.

import { Unreachable } from "./jmap.js";

/** @type {Map<string, Promise<unknown>>} */
const styles = new Map();

/**
 * Returns what loads a module and its styles, once. After a failure it is tried again next time.
 * @template Module
 * @param {() => Promise<Module>} load
 * @param {string} style
 * @returns {() => Promise<Module>}
 */
export function later(load, style) {
  /** @type {Promise<Module> | null} */
  let loaded = null;
  return () => {
    loaded ??= Promise.all([load(), styled(style)]).then(
      ([module]) => module,
      () => {
        loaded = null;
        throw new Unreachable("the server cannot be reached");
      },
    );
    return loaded;
  };
}

/** @param {string} name */
function styled(name) {
  // Beside this file, wherever that is.
  const { href } = new URL(`.${name}`, import.meta.url);
  const known = styles.get(href);
  if (known) return known;
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  const loading = new Promise((done, fail) => {
    link.onload = done;
    link.onerror = () => {
      styles.delete(href);
      link.remove();
      fail();
    };
  });
  styles.set(href, loading);
  document.head.append(link);
  return loading;
}
