import { describe, expect, it } from "vitest";
import { engineOf, played } from "../../../test/core/explain.fixture.ts";
import { flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Event } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Json } from "../values/json.ts";
import { eventSentences } from "./event-sentence.ts";
import { trail } from "./trail.ts";

const step = { pathId: "0", turn: 1, nodeId: "charge", attempt: 2, startedAt: 1_000, at: 1_012, version: 3 };
const stamp = { version: 4, at: 2_000 };
const canary = "canary 4711";
const error = { name: "Error", message: `The card\n ${canary} was declined` };

const told = (event: Event) => eventSentences(event, trail(), null);

describe("the sentences about an event", () => {
  it("have a sign, a place and parts, each of a kind", () => {
    expect(told({ ...step, type: "failed", error, retryAt: 1_412 })).toEqual([
      {
        sign: "failed",
        place: "charge",
        parts: [
          { kind: "words", text: "attempt 2" },
          { kind: "took", text: "12 ms" },
          { kind: "message", text: "The card canary 4711 was declined" },
          { kind: "next", text: "retry in 0.4 s" },
        ],
      },
    ]);
    expect(told({ ...step, type: "completed", output: 1, handles: ["paid"] })[0]!.parts.at(-1)).toEqual({ kind: "handle", text: "paid" });
  });

  it("hold data only as the value of a part, or as a message", () => {
    const signal = { ...stamp, type: "signalled", name: "news", key: "k", payload: { canary }, expiresAt: 9_000 } as const;
    const events: readonly Event[] = [
      { ...step, type: "failed", error, retryAt: null },
      { ...step, type: "suspended", waits: [{ id: "0@2", kind: "external", payload: { title: canary } }] },
      { ...step, type: "answerRefused", waitId: "0@2", issues: [{ pointer: "/x", message: canary }] },
      { ...stamp, type: "resumed", pathId: "0", waitId: "0@2", by: "payload", who: "ada", payload: { canary } },
      { ...stamp, type: "resumed", pathId: "0", waitId: "0@2", by: "child", payload: { canary } },
      { ...stamp, type: "itemAdded", pathId: "0", item: canary },
      { ...stamp, type: "metadataSet", metadata: { canary } },
      { ...stamp, type: "cancelled", reason: canary },
      signal,
    ];
    for (const event of events) {
      const sentences = told(event);
      expect(JSON.stringify(sentences)).toContain(canary);
      const open = sentences.flatMap(({ place, parts }) => [
        place,
        ...parts.flatMap(({ kind, text }) => (kind === "message" ? [] : [text])),
      ]);
      expect(open.join(" ")).not.toContain(canary);
    }
  });

  it("are none for what is only recorded, and short whatever the data are", () => {
    expect(told({ ...stamp, type: "unparked" })).toEqual([]);
    expect(told({ ...stamp, type: "delivered", ids: [] })).toEqual([]);
    const [{ parts } = expect.fail()] = told({ ...stamp, type: "metadataSet", metadata: { text: "x".repeat(1_000_000) } });
    expect(parts[0]!.value!.length).toBeLessThanOrEqual(200);
  });

  it("tell what an event has caused at other places", async () => {
    const { nodes, ...graph } = flow("w", { a: "noop", b: "noop", c: "noop" }, ["a>b", "a>c", "b>j", "c>j"]) as { nodes: object[] };
    const joined = { ...graph, nodes: [...nodes, { id: "j", type: "noop", join: "all" }] };
    const places = trail();
    const sentences = (await played(engineOf(joined))).flatMap(({ event, snapshot }) => eventSentences(event, places, snapshot));
    expect(sentences).toContainEqual({ sign: "joined", place: "j", parts: [{ kind: "words", text: "merges 2 branches: b and c" }] });
  });

  it("say who takes a signal, or that it is kept, as far as that is known", () => {
    const signal = { ...stamp, type: "signalled", name: "news", expiresAt: 62_000 } as const;
    const path = { id: "0", nodeId: "wait", waits: [{ id: "0@2", kind: "signal", signal: "news" }] };
    const before = { activePaths: [path] } as unknown as Snapshot;
    const after = (inbox: object[]): Snapshot => ({ activePaths: [{ id: "0", nodeId: "wait" }], inbox }) as unknown as Snapshot;
    expect(eventSentences(signal, trail(before), after([]))[0]).toEqual({
      sign: "moves",
      place: "wait",
      parts: [{ kind: "words", text: 'takes the signal "news"' }],
    });
    const none = { activePaths: [], inbox: [{ name: "news", expiresAt: 62_000 }] } as unknown as Snapshot;
    expect(eventSentences(signal, trail(), none)[0]).toMatchObject({
      sign: "kept",
      parts: [{ text: '"news"' }, { text: "nobody waits for it yet; it is kept for 1 min" }],
    });
    expect(eventSentences(signal, trail(), null)[0]).toMatchObject({ sign: "moves", place: "signal" });
  });

  it("say whether a signal of a step arrived, and what a map or a sub-workflow came to", () => {
    const resumed = { ...stamp, type: "resumed", pathId: "0", waitId: "0@2" } as const;
    const said = (event: Event): unknown => told(event)[0]!.parts[0];
    expect(said({ ...resumed, by: "delivery", payload: { status: "completed" } })).toMatchObject({ text: "its signal was delivered" });
    expect(said({ ...resumed, by: "delivery", payload: 1 })).toMatchObject({ text: "its signal could not be delivered" });
    expect(said({ ...resumed, by: "child" })).toMatchObject({ value: "null" });
    expect(said({ ...resumed, by: "payload" })).toEqual({ kind: "words", text: "is answered" });
    const result = (output: Json) => ({ nodeId: "m", result: { output, timestamp: 1, attempt: 1, pathId: "0", version: 4 } });
    const results = [result([1, 2]), result({ a: 1 })];
    const [, many, other] = told({ ...stamp, type: "retried", pathId: "0", consequences: { results } });
    expect([many!.parts, other!.parts]).toEqual([[{ kind: "words", text: "goes on with 2 items" }], []]);
  });

  it.each<readonly [Json | undefined, string | undefined]>([
    [undefined, undefined],
    [null, undefined],
    ["Well?", '"Well?"'],
    [[1], "[1]"],
    [{ title: "Pay?", message: "879 EUR", question: "" }, '"Pay?: 879 EUR"'],
    [{ type: "approval" }, undefined],
    [{ type: "approval", amount: 3 }, '{"type":"approval","amount":3}'],
  ])("have the question of a step: %j", (payload, value) => {
    const wait = { id: "0@2", kind: "external", ...(payload !== undefined && { payload }) } as const;
    expect(told({ ...step, type: "suspended", waits: [wait] })[0]!.parts).toEqual([
      { kind: "words", text: "waits for an answer", ...(value !== undefined && { value }) },
    ]);
  });

  it("say how long a step waits, at most and until it is too late", () => {
    const waits = [
      { id: "0@2", kind: "signal", signal: "paid", timeoutAt: 61_012 },
      { id: "0@2.1", kind: "timer", resumeAt: 31_012 },
    ] as const;
    expect(told({ ...step, type: "suspended", waits, undoes: { pathId: "0" } })[0]!.parts.map(({ text }) => text)).toEqual([
      "to be undone",
      'waits for the signal "paid", at most 30 s, for 1 min',
    ]);
  });
});
