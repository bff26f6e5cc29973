// A JMAP client of the soak run: asks the server what the page should show, and listens to its events. Knows
// no files and no page.

/** @typedef {{ id: string, name: string, parentId: string | null, unreadThreads: number }} Mailbox */
/** @typedef {{ id: string, conversationId: string, messageId: string[] | null, mailboxIds: Record<string, boolean>,
 *   keywords: Record<string, boolean> }} Email */

const USING = [
  ...["urn:ietf:params:jmap:core", "urn:ietf:params:jmap:mail"],
  ...["urn:pneu:params:jmap:conversations", "urn:pneu:params:jmap:query", "urn:pneu:params:jmap:archive"],
];
/** How many emails are asked for at once. */
const PART = 500;

export class Client {
  /** @param {string} origin @param {string} token */
  constructor(origin, token) {
    this.origin = origin;
    this.headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    /** What the last event told of. @type {Record<string, string>} */
    this.told = {};
    this.eventCount = 0;
    this.abort = new AbortController();
  }

  /** @param {string} name @param {Record<string, unknown>} args @returns {Promise<any>} */
  async call(name, args) {
    const body = JSON.stringify({ using: USING, methodCalls: [[name, { accountId: "mail", ...args }, "c"]] });
    const reply = await fetch(`${this.origin}/jmap/api`, { method: "POST", headers: this.headers, body });
    if (!reply.ok) throw new Error(`${name} was answered with ${reply.status}: ${await reply.text()}`);
    const [[method, answer]] = (await reply.json()).methodResponses;
    if (method === "error") throw new Error(`${name}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** @returns {Promise<Mailbox[]>} */
  async mailboxes() {
    return (await this.call("Mailbox/get", { ids: null })).list;
  }

  /** @param {string[]} ids @returns {Promise<Email[]>} */
  async emails(ids) {
    const properties = ["conversationId", "messageId", "mailboxIds", "keywords"];
    const all = [];
    for (let start = 0; start < ids.length; start += PART)
      all.push(...(await this.call("Email/get", { ids: ids.slice(start, start + PART), properties })).list);
    return all;
  }

  /** Returns all emails. */
  async everything() {
    return this.emails((await this.call("Email/query", { limit: 10_000 })).ids);
  }

  /**
   * Returns the rows of a list as the page shows them: the newest email of each conversation that is in it.
   * @param {Record<string, unknown> | null} filter
   * @param {number} position
   * @param {number} limit
   */
  async rows(filter, position, limit) {
    const sort = [{ property: "receivedAt", isAscending: false }];
    const args = { filter, position, limit, collapseConversations: true, calculateTotal: true, sort };
    const { ids, total } = await this.call("Email/query", args);
    const emails = new Map((await this.emails(ids)).map((each) => [each.id, each]));
    const named = [...new Set([...emails.values()].map((each) => each.conversationId))];
    const conversations = (await this.call("Conversation/get", { ids: named })).list;
    const members = await this.emails(conversations.flatMap((/** @type {any} */ each) => each.emailIds));
    const rows = ids.map((/** @type {string} */ id) => {
      const others = members.filter((each) => each.conversationId === emails.get(id)?.conversationId);
      const isUnread = others.some((each) => !each.keywords["$seen"]);
      const isFlagged = others.some((each) => each.keywords["$flagged"]);
      return { id, isUnread, isFlagged };
    });
    return { rows, total: Number(total) };
  }

  /**
   * Returns the rows of the list of messages that are gone. What else the page shows of them is that of others
   * in their conversations.
   * @param {Record<string, unknown> | null} filter
   * @param {number} position
   * @param {number} limit
   */
  async goneRows(filter, position, limit) {
    const sort = [{ property: "receivedAt", isAscending: false }];
    const which = { filter, position, limit, archived: "only", sort };
    const answer = await this.call("Email/query", { ...which, collapseConversations: true, calculateTotal: true });
    return { rows: answer.ids.map((/** @type {string} */ id) => ({ id })), total: Number(answer.total) };
  }

  /** Listens to events, until it is closed. Throws if the server ends them. */
  async listen() {
    const url = `${this.origin}/jmap/eventsource?types=*&closeafter=no&ping=30`;
    const reply = await fetch(url, { headers: this.headers, signal: this.abort.signal });
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of /** @type {AsyncIterable<Uint8Array>} */ (
      /** @type {unknown} */ (reply.body)
    )) {
      text += decoder.decode(bytes, { stream: true });
      const events = text.split("\n\n");
      text = String(events.pop());
      for (const event of events) this.take(event);
    }
    throw new Error("the server ended its events");
  }

  /** @param {string} event */
  take(event) {
    const data = /^data: ?(.*)$/m.exec(event)?.[1];
    if (!/^event: ?state$/m.test(event) || !data) return;
    this.eventCount += 1;
    Object.assign(this.told, Object.values(JSON.parse(data).changed)[0]);
  }

  close() {
    this.abort.abort();
  }
}
