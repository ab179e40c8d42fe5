import type { Event, Snapshot } from "stepfold";
import { trail } from "stepfold/core";
import { describe, expect, it } from "vitest";
import { engineOf, flow, played } from "../../test/flow.fixture.ts";
import { plainPaint } from "../text/paint.ts";
import { eventLines } from "./event-line.ts";

const step = { pathId: "0", turn: 1, nodeId: "charge", attempt: 1, startedAt: 1_000, at: 1_012, version: 3 };
const stamp = { version: 4, at: 2_000 };
const error = { name: "Error", message: "Request failed\nwith status 503" };
const style = { paint: plainPaint, nodeWidth: 8 };
const known = { activePaths: [{ id: "0", nodeId: "charge", children: { key: "0#1", map: { total: 4 } } }] } as unknown as Snapshot;
const lines = (event: Event, after: Snapshot | null = null): string[] => eventLines(event, { trail: trail(known), style, after });
const line = (event: Event): string | undefined => lines(event)[0];

describe("eventLines", () => {
  it("say what a step came to, and where", () => {
    expect(line({ ...step, type: "completed", output: 1 })).toBe("✔ charge    12 ms");
    expect(line({ ...step, type: "completed", output: 1, attempt: 3, handles: ["auth-error"] })).toBe(
      "✔ charge    attempt 3  12 ms  → auth-error",
    );
    expect(line({ ...step, type: "completed", output: 1, scope: "0#1/3", nodeId: "pay" })).toBe("✔ charge[3]/pay  12 ms");
    expect(line({ ...step, type: "failed", error, retryAt: 1_412 })).toBe(
      "✖ charge    attempt 1  12 ms  Request failed with status 503  retry in 0.4 s",
    );
    expect(line({ ...step, type: "failed", error, retryAt: null, handle: "error" })).toBe(
      "✖ charge    attempt 1  12 ms  Request failed with status 503  → error",
    );
  });

  it("say what is undone, where it was done", () => {
    const undo = { ...step, undoes: { scope: "0#1/2", pathId: "0" }, nodeId: "pay" };
    expect(line({ ...undo, type: "completed", output: 1 })).toBe("↩ charge[2]/pay  undone  12 ms");
    expect(line({ ...undo, type: "failed", error, retryAt: null })).toContain("✖ charge[2]/pay  to be undone  attempt 1");
    const late = { ...stamp, type: "timedOut", pathId: "0", nodeId: "pay", attempt: 1, waitId: "0@2", error } as const;
    expect(line({ ...late, undoes: { pathId: "0" } })).toBe("✖ pay       nobody answered in time; the step is not undone");
  });

  it("say which run begins, and where an execution goes on that is restarted", () => {
    const definition = { id: "order", hash: "x" };
    const continued = {
      ...step,
      type: "continued",
      run: 3,
      definition,
      firstNodeId: "charge",
      metadata: {},
      totalExecutionTime: 0,
    } as const;
    expect(line({ ...continued, input: { n: 2 } })).toBe('⟳ charge    ends its run; run 3 begins: {"n":2}');
    expect(line(continued)).toBe("⟳ charge    ends its run; run 3 begins");
    const path = (id: string, nodeId: string): object => ({ id, nodeId, stepPath: [] });
    const state = { activePaths: [path("0", "ship"), path("0.1", "pay"), path("0.2", "ship")] } as never;
    expect(line({ ...stamp, type: "restarted", definition, state })).toBe("⟳ restarted  goes on at ship and pay");
  });

  it("say what did not end in time: the execution, or what it runs", () => {
    expect(line({ ...stamp, type: "expired" })).toBe("✖ deadline  did not end in time");
    expect(line({ ...stamp, type: "expired", scope: "0#1/3" })).toBe("✖ charge[3]  did not end in time");
  });

  it("say whose answer the code of a node has refused, and why", () => {
    const refused = { ...step, type: "answerRefused", waitId: "0@2" } as const;
    const issues = [{ pointer: "/amount", message: "must be even" }];
    expect(line({ ...refused, who: "ada", issues })).toBe("✖ charge    the answer of ada is refused  /amount must be even  waits again");
    expect(line({ ...refused, issues: [{ pointer: "", message: "no" }] })).toBe("✖ charge    the answer is refused  / no  waits again");
    expect(line({ ...refused, issues: [] })).toBe("✖ charge    the answer is refused  waits again");
  });

  it("say what a step waits for", () => {
    const suspended = { ...step, type: "suspended" } as const;
    expect(line({ ...suspended, waits: [{ id: "0@2", kind: "timer", resumeAt: 3_512 }] })).toBe("⧗ charge    waits 2.5 s");
    const payload = { type: "approval", title: "Pay?", message: "879 EUR" };
    expect(line({ ...suspended, waits: [{ id: "0@2", kind: "external", payload, timeoutAt: 61_012 }] })).toBe(
      '⏸ charge    waits for an answer, for 1 min: "Pay?: 879 EUR"',
    );
  });

  it("say what happened to a wait, a retry, a map and the whole", () => {
    const resumed = { ...stamp, type: "resumed", pathId: "0", waitId: "0@2" } as const;
    expect(line({ ...resumed, by: "timer" })).toBe("▶ charge    its timer is due");
    expect(line({ ...resumed, by: "child", payload: { status: "cancelled" } })).toBe(
      '▶ charge    the execution that it waited for has ended: {"status":"cancelled"}',
    );
    expect(line({ ...resumed, by: "payload", who: "ada", payload: { ok: true } })).toBe('▶ charge    is answered by ada: {"ok":true}');
    expect(line({ ...stamp, type: "timedOut", pathId: "0", nodeId: "charge", attempt: 1, waitId: "0@2", error, handle: "timeout" })).toBe(
      "✖ charge    nobody answered in time  → timeout",
    );
    expect(line({ ...stamp, type: "retried", pathId: "0" })).toBe("↻ charge    is retried now");
    expect(line({ ...stamp, type: "itemAdded", pathId: "0", item: { a: 1 } })).toBe('+ charge    gets an item: {"a":1}');
    expect(line({ ...stamp, type: "mapClosed", pathId: "0" })).toBe("■ charge    gets no more items");
    expect(line({ ...stamp, type: "mapClosed", pathId: "0", completes: true })).toBe(
      "■ charge    gets no more items; items in progress are cancelled",
    );
  });

  it("say what was cancelled: all, an item, or paths, and what ended with it", () => {
    expect(line({ ...stamp, type: "cancelled", reason: "enough" })).toBe("■ cancelled  enough");
    expect(line({ ...stamp, type: "cancelled" })).toBe("■ cancelled");
    expect(line({ ...stamp, type: "cancelled", scope: "0#1/3", reason: "enough" })).toBe("■ charge[3]  cancelled  enough");
    expect(line({ ...stamp, type: "cancelled", pathIds: ["0"] })).toBe("■ charge    cancelled");
    const ended = ["a", "b", "c", "d", "e"].map((nodeId, i) => ({ pathId: `0.${i}`, nodeId, reason: "cancelled" as const }));
    const late = { pathId: "0.9", nodeId: "slow", reason: "late" as const };
    expect(lines({ ...stamp, type: "cancelled", pathIds: ["0.0"], consequences: { ended: [...ended, late] } })).toEqual([
      "■ a         cancelled",
      "· slow      too late: its join has fired without it",
      "· b, c, d and e  ended by this",
    ]);
  });

  it("say what runs for how many items, and what a map came to", async () => {
    const inner = flow("inner", { ask: "noop" });
    const spawned = { ...step, type: "spawned", visit: 1 } as const;
    const map = { items: [1, 2, 3], concurrency: 2, remaining: "cancel", tolerated: 0 } as const;
    expect(line({ ...spawned, children: { workflow: "inner", map: { ...map, completeWhen: 2, open: true } } })).toBe(
      "⑂ charge    runs inner for 3 items, 2 at once, until 2 are done, accepts more items",
    );
    expect(line({ ...spawned, children: { workflow: "inner" } })).toBe("⑂ charge    runs inner");
    const engine = engineOf(flow("w", { each: ["map", { workflow: "inner", items: ["x"] }] }, [], { workflows: { inner } }));
    const places = trail();
    const told = (await played(engine)).flatMap(({ event, snapshot }) => eventLines(event, { trail: places, style, after: snapshot }));
    expect(told.map((text) => text.replace(/\d+ ms/, "N ms"))).toEqual([
      "⑂ each      runs inner for 1 item",
      "✔ each[0]/ask  N ms",
      "✔ each      goes on with 1 item",
    ]);
  });

  it("say that a join has fired, once, and that one came short", async () => {
    const joining = { id: "j", type: "noop", join: "all" };
    const told = async (edges: readonly string[], join: object): Promise<string[]> => {
      const workflow = flow("w", { s: "noop", a: "noop", b: "noop" }, edges) as { nodes: object[] };
      const places = trail();
      const events = await played(engineOf({ ...workflow, nodes: [...workflow.nodes, join] }));
      return events.flatMap(({ event, snapshot }) => eventLines(event, { trail: places, style, after: snapshot }));
    };
    const all = await told(["s>a", "s>b", "a>j", "b>j"], joining);
    expect(all.filter((text) => text.startsWith("⋈"))).toEqual(["⋈ j         merges 2 branches: a and b"]);
    const short = await told(["s>a", "s>b", "a>j", "b>j@never"], { ...joining, join: 2 });
    expect(short.at(-1)).toMatch(/^✖ j +Node "j" waits for 2 branches, but only 1 arrived/);
  });
});
