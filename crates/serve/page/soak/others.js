// The other programs of the soak run, as a process of its own: what changes mail beside the page. It rests
// when it is told to, and says so; then it does the next thing.
//
//   node others.js DIRECTORY SEED

import { Mail } from "./mail.js";
import { random } from "./random.js";

/** How long it waits between two changes, at most; sometimes it makes many at once. */
const PAUSE_MS_MAX = 600;
const BURST = 40;

const [, , directory = "", seed = ""] = process.argv;
const chance = random(Number(seed));
const mail = new Mail(directory, chance, "late");
/** @type {Record<string, number>} */
const done = {};
let timer = setTimeout(work);

function work() {
  const count = chance.below(50) === 0 ? BURST : 1;
  for (let index = 0; index < count; index += 1) {
    const what = mail.step();
    done[what] = (done[what] ?? 0) + 1;
  }
  timer = setTimeout(work, chance.below(PAUSE_MS_MAX));
}

process.on("message", (order) => {
  clearTimeout(timer);
  if (order === "rest") process.send?.(done);
  else work();
});
process.on("disconnect", () => process.exit());
