import { describe, expect, it } from "vitest";
import { engineOf, played } from "../../../test/core/explain.fixture.ts";
import { flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Event } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { eventSentences } from "./event-sentence.ts";
import type { EventSentence } from "./sentence-parts.ts";
import { trail } from "./trail.ts";

const step = { pathId: "0", turn: 1, nodeId: "charge", attempt: 1, startedAt: 1_000, at: 1_012, version: 3 };
const stamp = { version: 4, at: 2_000 };
const error = { name: "Error", message: "Request failed\nwith status 503" };
const known = { activePaths: [{ id: "0", nodeId: "charge", children: { key: "0#1", map: { total: 4 } } }] } as unknown as Snapshot;
/** A sentence as one line. */
function textOf({ sign, place, parts }: EventSentence): string {
  const said = parts.map(({ kind, text, value }) => `${kind === "handle" ? "→ " : ""}${text}${value === undefined ? "" : `: ${value}`}`);
  return `${sign} ${said.length > 0 ? [place.padEnd(8), ...said].join("  ") : place}`;
}
const lines = (event: Event, after: Snapshot | null = null): string[] => eventSentences(event, trail(known), after).map(textOf);
const line = (event: Event): string | undefined => lines(event)[0];

describe("the sentences about an event, as text", () => {
  it("say what a step came to, and where", () => {
    expect(line({ ...step, type: "completed", output: 1 })).toBe("completed charge    12 ms");
    expect(line({ ...step, type: "completed", output: 1, attempt: 3, handles: ["auth-error"] })).toBe(
      "completed charge    attempt 3  12 ms  → auth-error",
    );
    expect(line({ ...step, type: "completed", output: 1, scope: "0#1/3", nodeId: "pay" })).toBe("completed charge[3]/pay  12 ms");
    expect(line({ ...step, type: "failed", error, retryAt: 1_412 })).toBe(
      "failed charge    attempt 1  12 ms  Request failed with status 503  retry in 0.4 s",
    );
    expect(line({ ...step, type: "failed", error, retryAt: null, handle: "error" })).toBe(
      "failed charge    attempt 1  12 ms  Request failed with status 503  → error",
    );
  });

  it("say what is undone, where it was done", () => {
    const undo = { ...step, undoes: { scope: "0#1/2", pathId: "0" }, nodeId: "pay" };
    expect(line({ ...undo, type: "completed", output: 1 })).toBe("undone charge[2]/pay  undone  12 ms");
    expect(line({ ...undo, type: "failed", error, retryAt: null })).toContain("failed charge[2]/pay  to be undone  attempt 1");
    const late = { ...stamp, type: "timedOut", pathId: "0", nodeId: "pay", attempt: 1, waitId: "0@2", error } as const;
    expect(line({ ...late, undoes: { pathId: "0" } })).toBe("failed pay       nobody answered in time; the step is not undone");
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
    expect(line({ ...continued, input: { n: 2 } })).toBe('continued charge    ends its run; run 3 begins: {"n":2}');
    expect(line(continued)).toBe("continued charge    ends its run; run 3 begins");
    const path = (id: string, nodeId: string): object => ({ id, nodeId, stepPath: [] });
    const state = { activePaths: [path("0", "ship"), path("0.1", "pay"), path("0.2", "ship")] } as never;
    expect(line({ ...stamp, type: "restarted", definition, state })).toBe("restarted restarted  goes on at ship and pay");
  });

  it("say what did not end in time: the execution, or what it runs", () => {
    expect(line({ ...stamp, type: "expired" })).toBe("failed deadline  did not end in time");
    expect(line({ ...stamp, type: "expired", scope: "0#1/3" })).toBe("failed charge[3]  did not end in time");
  });

  it("say whose answer the code of a node has refused, and why", () => {
    const refused = { ...step, type: "answerRefused", waitId: "0@2" } as const;
    const issues = [{ pointer: "/amount", message: "must be even" }];
    expect(line({ ...refused, who: "ada", issues })).toBe(
      "failed charge    the answer of ada is refused  /amount must be even  waits again",
    );
    expect(line({ ...refused, issues: [{ pointer: "", message: "no" }] })).toBe(
      "failed charge    the answer is refused  / no  waits again",
    );
    expect(line({ ...refused, issues: [] })).toBe("failed charge    the answer is refused  waits again");
  });

  it("say what a step waits for", () => {
    const suspended = { ...step, type: "suspended" } as const;
    expect(line({ ...suspended, waits: [{ id: "0@2", kind: "timer", resumeAt: 3_512 }] })).toBe("sleeps charge    waits 2.5 s");
    const payload = { type: "approval", title: "Pay?", message: "879 EUR" };
    expect(line({ ...suspended, waits: [{ id: "0@2", kind: "external", payload, timeoutAt: 61_012 }] })).toBe(
      'waits charge    waits for an answer, for 1 min: "Pay?: 879 EUR"',
    );
  });

  it("say what happened to a wait, a retry, a map and the whole", () => {
    const resumed = { ...stamp, type: "resumed", pathId: "0", waitId: "0@2" } as const;
    expect(line({ ...resumed, by: "timer" })).toBe("moves charge    its timer is due");
    expect(line({ ...resumed, by: "child", payload: { status: "cancelled" } })).toBe(
      'moves charge    the execution that it waited for has ended: {"status":"cancelled"}',
    );
    expect(line({ ...resumed, by: "payload", who: "ada", payload: { ok: true } })).toBe('moves charge    is answered by ada: {"ok":true}');
    expect(line({ ...stamp, type: "timedOut", pathId: "0", nodeId: "charge", attempt: 1, waitId: "0@2", error, handle: "timeout" })).toBe(
      "failed charge    nobody answered in time  → timeout",
    );
    expect(line({ ...stamp, type: "retried", pathId: "0" })).toBe("retried charge    is retried now");
    expect(line({ ...stamp, type: "itemAdded", pathId: "0", item: { a: 1 } })).toBe('added charge    gets an item: {"a":1}');
    expect(line({ ...stamp, type: "mapClosed", pathId: "0" })).toBe("closed charge    gets no more items");
    expect(line({ ...stamp, type: "mapClosed", pathId: "0", completes: true })).toBe(
      "closed charge    gets no more items; items in progress are cancelled",
    );
  });

  it("say what was cancelled: all, an item, or paths, and what ended with it", () => {
    expect(line({ ...stamp, type: "cancelled", reason: "enough" })).toBe("cancelled cancelled  enough");
    expect(line({ ...stamp, type: "cancelled" })).toBe("cancelled cancelled");
    expect(line({ ...stamp, type: "cancelled", scope: "0#1/3", reason: "enough" })).toBe("cancelled charge[3]  cancelled  enough");
    expect(line({ ...stamp, type: "cancelled", pathIds: ["0"] })).toBe("cancelled charge    cancelled");
    const ended = ["a", "b", "c", "d", "e"].map((nodeId, i) => ({ pathId: `0.${i}`, nodeId, reason: "cancelled" as const }));
    const late = { pathId: "0.9", nodeId: "slow", reason: "late" as const };
    expect(lines({ ...stamp, type: "cancelled", pathIds: ["0.0"], consequences: { ended: [...ended, late] } })).toEqual([
      "cancelled a         cancelled",
      "ended slow      too late: its join has fired without it",
      "ended b, c, d and e  ended by this",
    ]);
  });

  it("say what runs for how many items, and what a map came to", async () => {
    const inner = flow("inner", { ask: "noop" });
    const spawned = { ...step, type: "spawned", visit: 1 } as const;
    const map = { items: [1, 2, 3], concurrency: 2, remaining: "cancel", tolerated: 0 } as const;
    expect(line({ ...spawned, children: { workflow: "inner", map: { ...map, completeWhen: 2, open: true } } })).toBe(
      "spawned charge    runs inner for 3 items, 2 at once, until 2 are done, accepts more items",
    );
    expect(line({ ...spawned, children: { workflow: "inner" } })).toBe("spawned charge    runs inner");
    const engine = engineOf(flow("w", { each: ["map", { workflow: "inner", items: ["x"] }] }, [], { workflows: { inner } }));
    const places = trail();
    const told = (await played(engine)).flatMap(({ event, snapshot }) => eventSentences(event, places, snapshot).map(textOf));
    expect(told.map((text) => text.replace(/\d+ ms/, "N ms"))).toEqual([
      "spawned each      runs inner for 1 item",
      "completed each[0]/ask  N ms",
      "completed each      goes on with 1 item",
    ]);
  });

  it("say that a join has fired, once, and that one came short", async () => {
    const joining = { id: "j", type: "noop", join: "all" };
    const told = async (edges: readonly string[], join: object): Promise<string[]> => {
      const workflow = flow("w", { s: "noop", a: "noop", b: "noop" }, edges) as { nodes: object[] };
      const places = trail();
      const events = await played(engineOf({ ...workflow, nodes: [...workflow.nodes, join] }));
      return events.flatMap(({ event, snapshot }) => eventSentences(event, places, snapshot).map(textOf));
    };
    const all = await told(["s>a", "s>b", "a>j", "b>j"], joining);
    expect(all.filter((text) => text.startsWith("joined"))).toEqual(["joined j         merges 2 branches: a and b"]);
    const short = await told(["s>a", "s>b", "a>j", "b>j@never"], { ...joining, join: 2 });
    expect(short.at(-1)).toMatch(/^failed j +Node "j" waits for 2 branches, but only 1 arrived/);
  });
});
