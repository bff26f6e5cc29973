// A server before the program's: it sends the files of this folder, and passes all else on. With it, a page can
// be measured that was not built into the program.

import http from "node:http";
import { text } from "node:stream/consumers";
import { fileOf } from "../tests/support.js";

/**
 * Returns its address.
 * @param {string} origin
 * @returns {Promise<{ origin: string, close: () => void }>}
 */
export function before(origin) {
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? "/", origin);
    const file = fileOf(url);
    if (file) {
      response.writeHead(file.status, file.headers).end(file.body);
      return;
    }
    const headers = { ...request.headers, host: url.host };
    if (headers.origin) headers.origin = origin;
    const passed = http.request(url, { method: request.method ?? "GET", headers }, (answer) => {
      const isSession = url.pathname === "/.well-known/jmap";
      if (isSession) delete answer.headers["content-length"];
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      if (!isSession) answer.pipe(response);
      // The session names the server by its address.
      else
        void text(answer).then((session) =>
          response.end(session.replaceAll(origin, `http://${request.headers.host}`)),
        );
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
  });
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ origin: `http://127.0.0.1:${port}`, close });
    }),
  );
}
