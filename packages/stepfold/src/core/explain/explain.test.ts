import { describe, expect, it } from "vitest";
import { at, engineOf, hour, inTime, only, run, told } from "../../../test/core/explain.fixture.ts";
import { flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Json } from "../values/json.ts";
import { explain } from "./explain.ts";

const timeoutEdge = { ask: ["approval", { timeout: "1h", responders: ["ada", "bob"] }], no: "noop" } as const;

describe("explain: a rate limit", () => {
  it("is the reason why an execution has not begun, and none afterwards", async () => {
    const engine = engineOf(flow("w", { a: "noop", ask: "approval" }, ["a>ask"]));
    const path = { id: "0", nodeId: "a", status: "ready", turn: 0, visit: 0, attempts: 0, since: 0, stepPath: [] };
    const waiting = at(path);
    const rate = { key: "customer-7", limit: 1_000, periodMs: 90_000 };
    expect(told({ ...waiting, steps: 0, rate }).whole).toBe(
      'a is ready to run, as soon as its rate limit allows: at most 1,000 starts with the key "customer-7" in 90 s.',
    );
    expect(told({ ...waiting, steps: 0, rate: { ...rate, limit: 1 } }).whole).toContain("at most 1 start with the key");
    expect(told({ ...waiting, steps: 0 }).whole).toBe("a is ready to run.");
    expect(told({ ...(await engine.execute({})), rate }).whole).toMatch(/^ask waits for an answer/);
    expect(told({ ...waiting, steps: 1, rate }).whole).toBe("a is ready to run.");
  });
});

describe("explain: runs", () => {
  it("says in which run an execution is, and how often it was restarted", async () => {
    const snapshot = await engineOf(flow("w", { ask: "approval" })).execute({});
    expect(explain(snapshot)).not.toHaveProperty("runs");
    const runs = (more: Partial<Snapshot>): string | undefined => explain({ ...snapshot, ...more }).runs;
    const run = { number: 3, since: 9, at: Date.UTC(2026, 0, 31) };
    expect(runs({ run })).toBe("Run 3 since 2026-01-31T00:00:00.000Z.");
    expect(runs({ restarts: 1 })).toBe("Restarted once.");
    expect(runs({ run, restarts: 2 })).toBe("Run 3 since 2026-01-31T00:00:00.000Z, restarted twice.");
    expect(runs({ restarts: 1_000, status: "completed" })).toBe("Restarted 1,000 times.");
  });
});

describe("explain: waits", () => {
  it("says who may answer, until when, and what happens then", async () => {
    const { whole, places, next } = await run(flow("w", timeoutEdge, ["ask>no@timeout"]));
    expect(whole).toBe(`ask waits for an answer from ada or bob, until ${inTime(hour)}, and then leaves by "timeout".`);
    expect(places).toEqual([whole.slice(0, -1).replace("ask ", "ask: ")]);
    expect(next).toBe(`At ${inTime(hour)} ask times out, and leaves by "timeout".`);
    expect((await run(flow("w", timeoutEdge, ["ask>no@error"]))).whole).toMatch(/, and then leaves by "error"\.$/);
    expect((await run(flow("w", { ask: timeoutEdge.ask }))).next).toMatch(/ ask times out, and fails\.$/);
  });

  it("says less where the workflow is not known, or is another one", async () => {
    const engine = engineOf(flow("w", timeoutEdge, ["ask>no@timeout"]));
    const snapshot = await engine.execute({});
    const less = { whole: `ask waits for an answer from ada or bob, until ${inTime(hour)}.`, next: `At ${inTime(hour)} ask times out.` };
    for (const workflow of [undefined, engineOf(flow("w", { ask: timeoutEdge.ask })).workflow])
      expect(told(snapshot, workflow)).toMatchObject(less);
  });

  it("says how many answers are missing, from whom, and who has answered", async () => {
    const engine = engineOf(flow("w", { ask: ["approval", { responders: ["ada", "bob", "cy", "di"], quorum: 3 }] }));
    let snapshot = await engine.execute({});
    expect(told(snapshot).whole).toBe('ask waits for 3 answers with "approved": true from ada, bob, cy or di.');
    for (const by of ["ada", "bob"]) snapshot = await engine.send(snapshot, { type: "resume", payload: { approved: true }, by });
    expect(told(snapshot)).toEqual({
      whole: 'ask waits for 1 more answer with "approved": true from cy or di (ada and bob have answered).',
      places: ['ask: waits for 1 more answer with "approved": true from cy or di (ada and bob have answered)'],
      next: null,
    });
  });

  it("names five of many people", () => {
    const responders = ["a", "b", "c", "d", "e", "f", "g"];
    const wait = { id: "0@2", kind: "external", responders, quorum: 2, answers: [{ by: "g", at: 1 }] };
    expect(told(at({ nodeId: "ask", status: "suspended", waits: [wait] })).whole).toBe(
      "ask waits for 1 more answer from a, b, c, d or 2 more (g has answered).",
    );
  });

  it("says what is raced for", async () => {
    const signals: Json[] = [{ name: "paid", key: "o-1" }, { name: "revoked" }];
    const race = { signals, answer: {}, timer: { for: "1h" } };
    expect(await only(flow("w", { settle: ["race", race] }))).toEqual(
      Array(2).fill(
        `settle waits for the signal "paid" with the key "o-1", the signal "revoked" or an answer, or until ${inTime(hour)}, and then goes on.`,
      ),
    );
  });

  it("says until when it sleeps", async () => {
    const { whole, next } = await run(flow("w", { nap: ["wait", { for: "1h" }] }));
    expect(whole).toBe(`nap waits until ${inTime(hour)}, and then goes on.`);
    expect(next).toBe(`At ${inTime(hour)} nap goes on by itself.`);
  });

  it("says which execution it waits for, and of several times the one that counts", () => {
    const child = { id: "0@2", kind: "child", workflowId: "bill-7", resumeAt: 3_000, timeoutAt: 2_000 };
    expect(told(at({ nodeId: "bill", status: "suspended", waits: [child] })).whole).toBe(
      'bill waits for the execution "bill-7", until 1970-01-01T00:00:02.000Z.',
    );
    const times = [{ kind: "timer", timeoutAt: 9e15 }, { kind: "timer", timeoutAt: 9.1e15 }, { kind: "child" }];
    expect(told(at({ nodeId: "nap", status: "suspended", waits: times.slice(0, 2) })).whole).toBe("nap waits until 9000000000000000.");
    expect(told(at({ nodeId: "nap", status: "suspended", waits: [{ kind: "signal" }, times[2]!] })).whole).toBe(
      'nap waits for the signal "" or the execution "".',
    );
  });
});

describe("explain: steps", () => {
  it("says why a step failed, and when it is tried again", async () => {
    const { whole, next } = await run(flow("w", { charge: "flaky" }));
    expect(whole).toBe(`charge failed (attempt 1): The shop is closed.; is tried again at ${inTime(10_000)}.`);
    expect(next).toBe(`At ${inTime(10_000)} charge is tried again (attempt 2).`);
    expect(
      told(at({ nodeId: "charge", status: "retrying", attempts: 2, nextRetryAt: 5 }, { nodeId: "x", status: "retrying" })).places,
    ).toEqual([
      "charge: failed (attempt 2); is tried again at 1970-01-01T00:00:00.005Z",
      "x: failed (attempt 0); is tried again at 1970-01-01T00:00:00.000Z",
    ]);
  });

  it("says what is to run", async () => {
    const engine = engineOf(flow("w", { a: "approval", f: "flaky" }, ["a>f@approved"]));
    const paused = await engine.execute({});
    const answered = await engine.send(paused, { type: "resume", payload: { approved: true } });
    expect(told(answered)).toEqual({ whole: "a is ready to go on.", places: ["a: is ready to go on"], next: "a is ready to go on." });
    expect(explain(answered).next).toEqual({ address: "a", at: null, sentence: "a is ready to go on." });
    const retried = await engine.send(await engine.execute({ snapshot: answered }), { type: "retry" });
    expect(told(retried).whole).toBe("f is ready to run (attempt 2).");
  });

  it("says what runs, where a process is known to run it", async () => {
    const worker = "worker-3";
    const running = (snapshot: Snapshot): unknown => {
      const { sentence, next, worker: who } = explain(snapshot, undefined, { worker });
      return [sentence, next?.sentence, who];
    };
    const engine = engineOf(flow("w", { a: "approval", f: "flaky" }, ["a>f@approved"]));
    const answered = await engine.send(await engine.execute({}), { type: "resume", payload: { approved: true } });
    expect(running(answered)).toEqual(["a is going on.", "a is going on.", worker]);
    const retried = await engine.send(await engine.execute({ snapshot: answered }), { type: "retry" });
    expect(running(retried)).toEqual(["f is running (attempt 2).", "f is running (attempt 2).", worker]);
    const rate = { key: "k", limit: 1, periodMs: 1_000 };
    const ready = { nodeId: "a", status: "ready" };
    const both = { ...at(ready, ready, { nodeId: "b", status: "suspended", waits: [{ kind: "external" }] }), rate, steps: 0 };
    expect(running(both)).toEqual(["3 places are open: 2 are running, 1 waits for an answer.", "a is running.", worker]);
    const parked = { code: "WORKER_CRASHED", message: "", at: 0 };
    expect(explain({ ...both, parked, status: "parked" }, undefined, { worker })).not.toHaveProperty("worker");
    expect(explain({ ...both, status: "completed" }, undefined, { worker })).not.toHaveProperty("worker");
    expect(explain(both, undefined, { worker: null })).not.toHaveProperty("worker");
  });

  it("says how it ended", async () => {
    const engine = engineOf(flow("w", { a: "approval", f: ["fail", { message: "Too dear.", code: "PRICE" }] }, ["a>f@rejected"]));
    const paused = await engine.execute({});
    const end = async (approved: boolean): Promise<unknown> =>
      explain(await engine.execute({ snapshot: paused, externalPayload: { approved } }));
    const ended = { places: [], more: 0, next: null };
    expect(await end(true)).toEqual({ status: "completed", sentence: "Completed.", marks: [], ...ended });
    const marks = [{ kind: "place", from: 10, to: 11 }];
    expect(await end(false)).toEqual({ status: "failed", sentence: "Failed at f: Too dear (PRICE).", marks, ...ended });
    expect(told(await engine.send(paused, { type: "cancel" })).whole).toBe("Cancelled.");
    const bare = (more: object): string => told({ ...at(), currentNodeId: null, ...more } as Snapshot).whole;
    expect(bare({ status: "failed", currentNodeId: "f" })).toBe("Failed at f.");
    expect(bare({ status: "failed", error: { message: `${"x".repeat(298)}👍 and more` } })).toBe(`Failed: ${"x".repeat(298)}….`);
    expect(bare({ status: "cancelled", error: { message: "no" } })).toBe("Cancelled: no.");
    expect(bare({ status: "cancelled", error: { message: "not needed.", code: "EXECUTION_CANCELLED" } })).toBe("Cancelled: not needed.");
    expect(bare({ status: "cancelled", error: { message: "no", code: "COMPENSATION_FAILED" } })).toBe("Cancelled.");
  });

  it("says that what was done is being undone", async () => {
    const undoing = (undo: string, more: object[] = []): object => ({
      ...flow("w", {}, ["book>next", "next>f@approved"]),
      nodes: [
        { id: "book", type: "noop", compensate: { type: undo, data: undo === "approval" ? {} : null } },
        { id: "next", type: "approval" },
        { id: "f", type: "fail", data: { message: "no", code: "NO" } },
        ...more,
      ],
    });
    const failing = async (undo: string): Promise<ReturnType<typeof told>> => {
      const engine = engineOf(undoing(undo));
      const paused = await engine.execute({});
      return told(await engine.execute({ snapshot: paused, externalPayload: { approved: true } }), engine.workflow);
    };
    const begins = "Failed at f: no (NO); its steps are being undone: book is being undone";
    expect((await failing("approval")).whole).toBe(`${begins}; it waits for an answer.`);
    expect((await failing("flaky")).whole).toBe(`${begins}; it failed (attempt 1); is tried again at ${inTime(10_000)}.`);
    const engine = engineOf(undoing("noop"));
    const cancelled = await engine.send(await engine.execute({}), { type: "cancel" });
    expect(told(cancelled).whole).toBe("Cancelled; its steps are being undone: book is being undone.");
    expect((await failing("noop")).whole).toBe("Failed at f: no (NO); undone: book.");
    expect(told(await engine.execute({ snapshot: cancelled })).whole).toBe("Cancelled; undone: book.");
  });

  it("leaves signs out of messages that would turn the direction of the words behind them", () => {
    const error = { name: "Error", message: "photo \u202egnp.exe \u2066 then \u2067", nodeId: "f" };
    const snapshot = { ...at(), currentNodeId: null, status: "failed", error } as unknown as Snapshot;
    expect(told(snapshot).whole).toBe("Failed at f: photo gnp.exe then.");
  });

  it("says that it will fail, where the rest runs to its end first", async () => {
    const { whole } = await run(
      flow("w", { s: "noop", f: ["fail", { message: "no" }], ask: "approval" }, ["s>f", "s>ask"], { onFailure: "finish" }),
    );
    expect(whole).toMatch(/^Will fail at f: no.*, once its other paths have ended: ask waits for an answer\.$/);
  });

  it("says which signal is under way, and to whom", () => {
    const payload = { workflowId: "order-7", signal: "paid" };
    const sending = at({ nodeId: "tell", status: "suspended", waits: [{ id: "i", kind: "delivery", payload }] });
    expect(told(sending).whole).toBe('tell waits for its signal "paid" to reach the execution "order-7".');
    const toAll = at({
      nodeId: "tell",
      status: "suspended",
      waits: [{ id: "i", kind: "delivery", payload: { signal: "paid", key: "k" } }],
    });
    expect(told(toAll).whole).toBe('tell waits for its signal "paid" to reach all executions that wait for it with the key "k".');
  });

  it("counts where many things are open", () => {
    const ready = { nodeId: "a", status: "ready" };
    const waiting = (kind: string): object => ({ nodeId: "b", status: "suspended", waits: [{ id: "i", kind }] });
    const paths = [waiting("timer"), waiting("external"), { nodeId: "j", status: "joining" }, { nodeId: "h", status: "held" }];
    expect(told(at(ready, ready, ...paths)).whole).toBe(
      "6 places are open: 2 are ready to run, 1 waits for an answer, 1 waits for a time, 1 waits for other branches, 1 waits for its turn.",
    );
    expect(told(at(...Array(1_200).fill(ready))).whole).toBe("1,200 places are ready to run.");
    const many = explain(at(...Array(900).fill(ready), waiting("external"), waiting("signal")));
    expect(many.places.slice(0, 3).map(({ sentence }) => sentence)).toEqual([
      "waits for an answer",
      'waits for the signal ""',
      "is ready to run",
    ]);
    expect(many).toMatchObject({ places: { length: 20 }, more: 882 });
  });
});

describe("explain: branches", () => {
  const node = (id: string, more: object = {}): object => ({ id, type: "approval", ...more });
  const noop = (id: string, more: object = {}): object => ({ id, type: "noop", ...more });
  const graph = (nodes: object[], edges: string[]): object => ({ ...flow("w", {}, edges), nodes });
  const at = async (name: string, nodes: object[], edges: string[], answers: string[] = []): Promise<string[]> => {
    const engine = engineOf(graph(nodes, edges));
    let snapshot = await engine.execute({});
    for (const target of answers) snapshot = await engine.execute({ snapshot, target, externalPayload: { approved: true } });
    return [engine.workflow, undefined].flatMap((workflow) =>
      told(snapshot, workflow).places.filter((place) => place.startsWith(`${name}:`)),
    );
  };
  const four = ["s>a", "s>b", "s>c", "a>j@approved", "b>j@approved", "c>j@approved"];

  it("says where the branches are that a join waits for", async () => {
    const all = [noop("s"), node("a"), node("b"), node("c"), noop("j", { join: "all" })];
    expect(await at("j", all, four, ["a"])).toEqual(["j: waits for the branches at b and c", "j: waits for other branches"]);
    expect((await at("j", all, four, ["a", "b"]))[0]).toBe("j: waits for the branch at c");
  });

  it("says how many branches a join has of those it needs", async () => {
    const two = [noop("s"), node("a"), node("b"), node("c"), noop("j", { join: 2 })];
    expect((await at("j", two, four, ["b"]))[0]).toBe("j: has 1 of the 2 branches it needs, and waits for the branches at a and c");
    const merge = [noop("s"), node("a"), node("b"), noop("m"), noop("j", { join: 2 })];
    expect((await at("j", merge, ["s>a", "s>b", "a>m@approved", "b>m@approved", "m>j"], ["a"]))[0]).toBe(
      "j: has 1 of the 2 branches it needs, and waits for the branch at b",
    );
  });

  it("says that a round is still open", async () => {
    const nodes = [noop("s"), node("a"), noop("b"), node("c"), noop("j", { join: 1 })];
    const twice = ["s>b", "s>b", "s>a", "s>c", "a>j@approved", "b>j", "c>j@approved"];
    expect((await at("j", nodes, twice))[0]).toBe(
      "j: waits for the next round of the join; in the current round, the branches at a and c may still arrive",
    );
    const blocks = [noop("p"), ...nodes.slice(0, 4), noop("j", { join: 1, late: "block" })];
    const waves = ["p>s", "p>s", ...twice.slice(1)];
    expect((await at("j", blocks, waves))[0]).toBe("j: waits until an earlier round of the join is over");
  });

  it("says who holds it up, or what it waits to be true", async () => {
    const hold = [
      noop("s"),
      node("a", { mutex: "account" }),
      noop("b", { mutex: "account", when: "input != null" }),
      noop("c", { when: "input" }),
    ];
    const edges = ["s>a", "s>b", "s>c"];
    expect(await at("b", hold, edges)).toEqual([
      'b: waits until a is done (both have the mutex "account"), and until this condition is true: input != null',
      "b: waits for its turn",
    ]);
    expect((await at("c", hold, edges))[0]).toBe("c: waits until this condition is true: input");
  });

  it("says the little that there is where a snapshot does not fit", () => {
    const engine = engineOf(graph([noop("s"), node("a"), noop("b", { mutex: "m" }), noop("r", { mutex: "m" })], ["s>a"]));
    const paths = ["b", "r", "gone"].map((nodeId, i) => {
      return { id: `0.${i}`, turn: 1, visit: 1, attempts: 0, since: 1, stepPath: [], nodeId, status: nodeId === "r" ? "joining" : "held" };
    });
    const { hash } = engine.workflow;
    const snapshot = {
      status: "paused",
      definition: { id: "w", hash },
      activePaths: paths,
      context: {},
      metadata: {},
    } as unknown as Snapshot;
    expect(told({ ...snapshot, activePaths: snapshot.activePaths.filter((_, i) => i !== 1) }, engine.workflow).places).toEqual([
      "b: waits for its turn",
      "gone: waits for its turn",
    ]);
  });
});
