import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { EventParser, type ServerSentEvent } from "../../src/client/event-parser.ts";

const begin = { lastId: "", retryMs: 1_000 };

interface Parsed {
  readonly events: readonly ServerSentEvent[];
  readonly lastId: string;
  readonly retryMs: number;
}

function parse(chunks: readonly Uint8Array[]): Parsed {
  const parser = new EventParser(begin);
  const events = chunks.flatMap((chunk) => parser.push(chunk));
  return { events, lastId: parser.lastId, retryMs: parser.retryMs };
}

/** What `eventsource-parser` finds in the whole text. */
function expected(bytes: Uint8Array): Parsed {
  let { lastId, retryMs } = begin;
  const events: ServerSentEvent[] = [];
  const parser = createParser({
    onEvent: ({ event = "message", data }) => events.push({ type: event, data, id: lastId }),
    onId: (id) => {
      lastId = id;
    },
    onRetry: (ms) => {
      retryMs = ms;
    },
  });
  parser.feed(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  return { events, lastId, retryMs };
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const cuts = [0, ...at.map((one) => one % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, i) => bytes.subarray(cuts[i], end));
}

const pieces = fc.constantFrom(
  ...["\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", "\n\r", ": beat", ":", " ", "x", "é", "😀", "\u2028", "\uFEFF", "\0"],
  ...["data", "data:", "data: ", "data:  two", "data: {}", "datax: 1", "Data: 1", "event", "event: head", "event:", "event: "],
  ...["id", "id:", "id: 0:41", "id: a\0b", "id:é", "retry: 2500", "retry: 1e3", "retry:", "retry: -1", "unknown: 1"],
);
const texts = fc
  .tuple(fc.constantFrom("", "\uFEFF", "\uFEFF\uFEFF"), fc.array(pieces, { maxLength: 40 }))
  .map(([bom, all]) => bom + all.join(""));
const bodies = fc.oneof(
  { weight: 5, arbitrary: texts.map((text) => new TextEncoder().encode(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
);

describe("a parser of server-sent events", () => {
  it("finds what eventsource-parser finds, wherever the chunks end", () => {
    const property = fc.property(bodies, fc.array(fc.nat(), { maxLength: 30 }), (bytes, at) => {
      expect(parse(cut(bytes, at))).toEqual(expected(bytes));
    });
    fc.assert(property, { numRuns: tries(20_000) });
  });

  it("finds the same byte by byte", () => {
    const property = fc.property(bodies, (bytes) => {
      expect(parse([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected(bytes));
    });
    fc.assert(property, { numRuns: tries(5_000) });
  });

  it("goes on with the id of the connection before", () => {
    const before = new EventParser(begin);
    before.push(new TextEncoder().encode("retry: 3000\nid: a\ndata: 1\n\nid: b\ndata: 2\n"));
    const after = new EventParser(before);
    expect(after.push(new TextEncoder().encode("data: 3\n\n"))).toEqual([{ type: "message", data: "3", id: "a" }]);
    expect(after).toMatchObject({ lastId: "a", retryMs: 3_000 });
  });

  it.each([
    ["one long line", "data: ", "x".repeat(2 ** 20)],
    ["a comment without an end", ": ", "x".repeat(2 ** 20)],
    ["many lines", "", `data: ${"x".repeat(2 ** 10)}\n`.repeat(2 ** 10)],
    ["many empty lines of data", "", "data\n".repeat(2 ** 18)],
  ])("refuses an event of more than 16 MiB: %s", (_, beginning, part) => {
    const parser = new EventParser(begin);
    const chunk = new TextEncoder().encode(part);
    parser.push(new TextEncoder().encode(beginning));
    const pushAll = (): void => {
      for (let i = 0; i < 100; i++) parser.push(chunk);
    };
    expect(pushAll).toThrow(expect.objectContaining({ code: "UNEXPECTED_ANSWER", retryable: false }));
  });

  it("takes an event of nearly 16 MiB in small chunks, in a time that grows with its length only", () => {
    const data = "x".repeat(16 * 1024 * 1024 - 10);
    const bytes = new TextEncoder().encode(`data: ${data}\n\n`);
    const parser = new EventParser(begin);
    const events: ServerSentEvent[] = [];
    for (let at = 0; at < bytes.length; at += 1_024) events.push(...parser.push(bytes.subarray(at, at + 1_024)));
    expect(events.map((event) => event.data === data)).toEqual([true]);
  });
});
