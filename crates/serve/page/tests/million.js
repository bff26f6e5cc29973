// A stand-in for a server with a million messages: what it answers to the calls of the list.

export const MILLION = 1_000_000;

/** Returns what a server with a million messages answers. @param {{ position: number, limit: number }} query */
export function million({ position, limit }) {
  const numbers = Array.from({ length: Math.min(limit, MILLION - position) }, (_, index) => position + index);
  const emails = numbers.map((number) => ({
    id: `M${number}`,
    conversationId: `C${number}`,
    subject: `Row ${number}`,
    from: [{ name: "Ana", email: "ana@example.org" }],
    to: [],
    receivedAt: "2025-03-01T08:00:00Z",
    preview: "",
    keywords: { $seen: true },
    hasAttachment: false,
  }));
  return [
    [
      "Email/query",
      { ids: emails.map((email) => email.id), position, total: MILLION, queryState: "1" },
      "c0",
    ],
    ["Email/get", { list: emails, notFound: [], state: "1" }, "c1"],
    ["Conversation/get", { list: numbers.map((number) => ({ id: `C${number}`, emailIds: [`M${number}`] })) }, "c2"],
  ];
}
