import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isTerminal, type Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { openDraft } from "../../src/core/transition/draft/open-draft.ts";
import { bench, flow } from "../nodes/workflow.fixture.ts";

// A map whose items run the same workflow again has to end in the limit of open scopes before memory runs out.

const items = Array.from({ length: 1_000 }, () => 0);
const ofItself = (more: object = {}): object => flow("w", { m: ["map", { workflow: "w", items, concurrency: 1_000, ...more }] });
const openScopes = ({ childStates = {} }: Snapshot): number =>
  Object.values(childStates).filter(({ status }) => !isTerminal(status)).length;

async function mostOpen(workflow: object, limits: object): Promise<{ readonly most: number; readonly end: Snapshot }> {
  const { engine } = bench(workflow, limits);
  let snapshot = await engine.execute({ stepLimit: 1 });
  let most = 0;
  for (let i = 0; i < 200 && !isTerminal(snapshot.status); i++) {
    most = Math.max(most, openScopes(snapshot));
    // a draft that is opened from the snapshot counts the same number of open children
    expect(openDraft(engine.workflow, snapshot).openChildren).toBe(openScopes(snapshot));
    snapshot = await engine.executeStep(JSON.parse(JSON.stringify(snapshot)) as object);
  }
  return { most, end: snapshot };
}

describe("F4: a map of itself", () => {
  it("ends in the limit of open scopes", async () => {
    const { most, end } = await mostOpen(ofItself(), { scopes: 2_500 });
    expect(most).toBeGreaterThan(1_900);
    expect(most).toBeLessThanOrEqual(2_500);
    expect(end).toMatchObject({ status: "failed", error: { code: "MAP_FAILED" } });
    expect(end.error?.message).toContain('exceeds the limit "scopes": 2501, at most 2500');
    expect(end).not.toHaveProperty("childStates");
    expect(openDraft(bench(ofItself()).engine.workflow, end).sizeBytes).toBeLessThan(100_000);
  });

  it("ends so by default too, in a heap of 128 MB", { timeout: 120_000 }, () => {
    const script = fileURLToPath(new URL("./map-of-itself.fixture.ts", import.meta.url));
    const told = execFileSync(process.execPath, ["--max-old-space-size=128", script], { encoding: "utf8" });
    expect(JSON.parse(told)).toEqual({ status: "failed", isLimit: true });
  });

  it("costs bytes for each child, which are given back", async () => {
    const inner = { ...flow("one", { n: "noop" }), id: "one" };
    const { engine } = bench(
      flow("w", { m: ["map", { workflow: "one", items: [0, 0, 0], concurrency: 3 }], end: ["set", 1] }, ["m>end"], {
        workflows: { one: inner },
      }),
    );
    const begun = await engine.execute({ stepLimit: 1 });
    const over = await engine.execute({ snapshot: begun });
    expect(begun.sizeBytes).toBeGreaterThan(3 * 256);
    expect(over).toMatchObject({ status: "completed" });
    expect(over.sizeBytes).toBeLessThan(256);
  });
});

describe("the limit of open scopes", () => {
  const ask = { ...flow("ask", { q: "approval" }), id: "ask" };
  const asking = (more: object, edges: readonly string[] = []): object =>
    flow("w", { m: ["map", { workflow: "ask", items: [1, 2, 3, 4], ...more }], saved: ["set", "saved"], go: ["set", "gone on"] }, edges, {
      workflows: { ask },
    });

  it("is the failure of the map, and leaves by its edge", async () => {
    const { engine } = bench(asking({}, ["m>saved@error", "m>go"]), { scopes: 3 });
    expect(await engine.execute({ initialNodeId: "m" })).toMatchObject({ status: "completed", output: "saved" });
  });

  it("leaves what a map that has gone on still runs alone, and begins no more of it", async () => {
    const maybe = { ...flow("maybe", { i: ["if", { condition: "{{ input > 0 }}" }], q: "approval" }, ["i>q@true"]), id: "maybe" };
    const map = { workflow: "maybe", items: [0, 1, 1, 1, 1, 1], completeWhen: 1, remaining: "finish", concurrency: 1 };
    const { engine } = bench(flow("w", { m: ["map", map], go: "noop" }, ["m>go"], { workflows: { maybe } }), { scopes: 2 });
    // one item is cancelled before it begins
    const begun = await engine.send(await engine.execute({ stepLimit: 1 }), { type: "cancel", target: { node: "m", item: 4 } });
    const left = await engine.execute({ snapshot: begun });
    expect(left).toMatchObject({ status: "paused", context: { go: [{ output: [0, null, null, null, null, null] }] } });
    expect(openScopes(left)).toBe(2);
    const [first, second] = Object.entries(left.childStates!).flatMap(([, { activePaths }]) =>
      activePaths.map(({ waits }) => waits![0]!.id),
    );
    const next = await engine.execute({ snapshot: left, target: { waitId: first! }, externalPayload: { approved: true } });
    expect(openScopes(next)).toBe(1);
    const over = await engine.execute({ snapshot: next, target: { waitId: second! }, externalPayload: { approved: true } });
    expect(over.status).toBe("completed");
  });

  it("holds for sub-workflows", async () => {
    const two = flow("w", { s: "noop", a: ["workflow", { workflow: "ask" }], b: ["workflow", { workflow: "ask" }] }, ["s>a", "s>b"], {
      workflows: { ask },
    });
    const { engine } = bench(two, { scopes: 1 });
    expect(await engine.execute({ initialNodeId: "s" })).toMatchObject({ status: "failed", error: { code: "LIMIT_EXCEEDED" } });
  });

  it("is there for the concurrency of a map too", async () => {
    const { engine } = bench(asking({ concurrency: 1_001 }));
    expect(await engine.execute({ initialNodeId: "m" })).toMatchObject({
      status: "failed",
      error: { code: "LIMIT_EXCEEDED", message: expect.stringContaining('"mapConcurrency": 1001, at most 1000') },
    });
  });

  it("of a map's concurrency is what a map has that says nothing, if it is below the default", async () => {
    const { engine } = bench(asking({}), { mapConcurrency: 2 });
    expect(await engine.execute({ initialNodeId: "m" })).toMatchObject({ activePaths: [{ children: { map: { concurrency: 2 } } }] });
  });
});

describe("F16 c: signals that nobody waits for", () => {
  it("are bounded by their bytes, not only by their number, and free their room when they are taken", async () => {
    const listening = flow("w", { first: "approval", s: ["signal", { name: "paid" }] }, ["first>s@approved"]);
    const { engine } = bench(listening, { inboxBytes: 10_000 });
    const send = (to: Snapshot, name: string, length: number): Promise<Snapshot> =>
      engine.send(to, { type: "signal", name, payload: "x".repeat(length) });
    let snapshot = await engine.execute({});
    snapshot = await send(snapshot, "paid", 6_000);
    await expect(send(snapshot, "other", 4_000)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { limit: "inboxBytes", max: 10_000 },
    });
    snapshot = await engine.execute({ snapshot, externalPayload: { approved: true } });
    expect(snapshot.status).toBe("completed");
    const waiting = await send(await engine.execute({}), "other", 4_000);
    await expect(send(waiting, "more", 9_000)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    expect((await send(waiting, "more", 4_000)).inbox).toHaveLength(2);
  });
});
