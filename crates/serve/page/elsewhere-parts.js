// Puts what is not the mail of today into its places. Is loaded when it is needed: see elsewhere.js. Knows no
// details of any part.

import { effect } from "./vendor/signals-core.mjs";
import * as history from "./history.js";
import { place } from "./html.js";
import * as moment from "./moment.js";
import * as statistics from "./statistics.js";

place("moment", moment.drawDialog);
place("history", history.draw);
place("statistics", statistics.draw);
effect(moment.follow);
effect(history.follow);
effect(statistics.follow);

export const { open: openHistory } = history;
export const { open: openMoment, drawNotice } = moment;
export { drawOpen, drawRemark, drawRow, drawSelection, onKey } from "./restore.js";
