import { describe, expect, it } from "vitest";
import { viaJson } from "../../test/engine/engine.fixture.ts";
import { bench, flow, outputOf, type Step } from "../../test/nodes/workflow.fixture.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Json } from "../core/values/json.ts";

const day = 86_400_000;

/** A workflow that waits for an approval before it waits for the signal. */
const gated = (data: Json): ReturnType<typeof bench> => bench(flow("w", { gate: "approval", go: ["signal", data] }, ["gate>go@approved"]));
const yes = { approved: true };

describe("signal", () => {
  it("pauses until the signal comes, and gives what came with it", async () => {
    const { engine } = bench(flow("w", { go: ["signal", { name: "go" }] }));
    const paused = await engine.execute({});
    expect(paused).toMatchObject({ status: "paused", activePaths: [{ waits: [{ kind: "signal", signal: "go" }] }] });
    const signalled = await engine.send(viaJson(paused), { type: "signal", name: "go", payload: { amount: 4 } });
    expect(await engine.execute({ snapshot: signalled })).toMatchObject({ status: "completed", output: { amount: 4 } });
  });

  it.each<[Json | undefined]>([
    [undefined],
    [null],
    [0],
    [false],
    [""],
    [[]],
    [{ constructor: { prototype: 1 } }],
  ])("gives %j as it came, null for nothing", async (payload) => {
    const { engine } = bench(flow("w", { go: ["signal", { name: "go" }] }));
    const signalled = await engine.send(await engine.execute({}), { type: "signal", name: "go", payload });
    const ended = await engine.execute({ snapshot: viaJson(signalled) });
    expect(ended.status).toBe("completed");
    expect(ended.output).toEqual(payload ?? null);
  });

  it.each([
    ["another name", { name: "GO" }],
    ["a key where none is waited for", { name: "go", key: "7" }],
    ["a name that objects inherit", { name: "toString" }],
  ])("waits on after %s", async (_, signal) => {
    const { engine } = bench(flow("w", { go: ["signal", { name: "go" }] }));
    const snapshot = await engine.send(await engine.execute({}), { type: "signal", ...signal });
    expect(await engine.execute({ snapshot })).toMatchObject({ status: "paused", inbox: [signal] });
  });

  it("takes only a signal with its key", async () => {
    const { engine } = bench(flow("w", { go: ["signal", { name: "paid", key: "order-{{ input.order }}" }] }));
    let snapshot: Snapshot = await engine.execute({ input: { order: 7 } });
    for (const key of ["order-8", undefined]) snapshot = await engine.send(snapshot, { type: "signal", name: "paid", key, payload: 1 });
    snapshot = await engine.execute({ snapshot });
    expect(snapshot).toMatchObject({ status: "paused", inbox: [{ key: "order-8" }, { payload: 1 }] });
    snapshot = await engine.send(snapshot, { type: "signal", name: "paid", key: "order-7", payload: 2 });
    expect(await engine.execute({ snapshot })).toMatchObject({ status: "completed", output: 2 });
  });

  it("is not ended by a payload, nor by going on without one", async () => {
    const { engine } = bench(flow("w", { go: ["signal", { name: "go" }] }));
    const paused = await engine.execute({});
    await expect(engine.execute({ snapshot: paused, externalPayload: 1 })).rejects.toMatchObject({ code: "WAIT_GONE" });
    expect((await engine.execute({ snapshot: paused })).status).toBe("paused");
  });

  it("takes signals that came before, the oldest first, each once", async () => {
    const { engine } = bench(
      flow("w", { gate: "approval", a: ["signal", { name: "go" }], b: ["signal", { name: "go" }] }, ["gate>a@approved", "a>b"]),
    );
    let snapshot = await engine.execute({});
    for (const payload of [1, 2, 3]) snapshot = await engine.send(snapshot, { type: "signal", name: "go", payload });
    snapshot = await engine.execute({ snapshot: viaJson(snapshot), externalPayload: yes });
    expect([snapshot.status, outputOf(snapshot, "a"), outputOf(snapshot, "b")]).toEqual(["completed", 1, 2]);
  });

  it("does not take one that is too old", async () => {
    const { engine, clock } = gated({ name: "go" });
    const early = await engine.send(await engine.execute({}), { type: "signal", name: "go", ttl: "1h" });
    clock.set(clock.now() + 3_600_000);
    expect((await engine.execute({ snapshot: early, externalPayload: yes })).status).toBe("paused");
  });

  it("waits for the next one where it is transient", async () => {
    const { engine } = gated({ name: "go", transient: true });
    const early = await engine.send(await engine.execute({}), { type: "signal", name: "go", payload: "early" });
    let snapshot = await engine.execute({ snapshot: early, externalPayload: yes });
    expect(snapshot).toMatchObject({ status: "paused", activePaths: [{ waits: [{ transient: true }] }] });
    snapshot = await engine.send(viaJson(snapshot), { type: "signal", name: "go", payload: "now" });
    expect(await engine.execute({ snapshot })).toMatchObject({ status: "completed", output: "now" });
  });

  it("lets the oldest of several waits go on", async () => {
    const { engine } = bench(
      flow("w", { fork: "noop", a: ["signal", { name: "go" }], b: ["signal", { name: "go" }] }, ["fork>a", "fork>b"]),
    );
    let snapshot = await engine.send(await engine.execute({}), { type: "signal", name: "go", payload: 1 });
    snapshot = await engine.execute({ snapshot });
    expect([snapshot.status, outputOf(snapshot, "a"), outputOf(snapshot, "b")]).toEqual(["paused", 1, undefined]);
  });

  it.each<[Json | undefined, object]>([
    [3, { status: "completed", output: 3 }],
    [0, { status: "failed", error: { code: "RESUME_INVALID", nodeId: "go" } }],
    [undefined, { status: "failed", error: { code: "RESUME_INVALID" } }],
    ["<script>", { status: "failed", error: { code: "RESUME_INVALID" } }],
  ])("holds %j that came before against its schema when it takes it", async (payload, expected) => {
    const schema = { type: "number", minimum: 1 };
    const { engine } = bench(flow("w", { gate: "approval", go: ["signal", { name: "go", schema }] }, ["gate>go@approved"]));
    const early = await engine.send(await engine.execute({}), { type: "signal", name: "go", payload });
    const taken = await engine.execute({ snapshot: viaJson(early), externalPayload: { approved: true }, stepLimit: 2 });
    expect(taken.activePaths[0]?.resumed).toMatchObject({ by: "signal", schema });
    expect(await engine.execute({ snapshot: viaJson(taken) })).toMatchObject(expected);
  });

  it("leaves by the edge error with one that came before and does not fit", async () => {
    const steps = {
      gate: "approval",
      go: ["signal", { name: "go", schema: { type: "number" } }],
      wrong: ["end", { output: "wrong" }],
    } as const;
    const { engine } = bench(flow("w", steps, ["gate>go@approved", "go>wrong@error"]));
    const early = await engine.send(await engine.execute({}), { type: "signal", name: "go", payload: "x" });
    expect(await engine.execute({ snapshot: early, externalPayload: { approved: true } })).toMatchObject({ output: "wrong" });
  });

  it("refuses a payload that does not fit, and waits on", async () => {
    const { engine } = bench(flow("w", { go: ["signal", { name: "go", schema: { type: "number", minimum: 1 } }] }));
    const paused = await engine.execute({});
    for (const payload of [undefined, "1", 0])
      await expect(engine.send(paused, { type: "signal", name: "go", payload })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    expect(await engine.execute({ snapshot: await engine.send(paused, { type: "signal", name: "go", payload: 1 }) })).toMatchObject({
      output: 1,
    });
  });

  it.each([
    [["go>late@timeout", "go>wrong@error"], { status: "completed", output: "late" }],
    [["go>wrong@error"], { status: "completed", output: "wrong" }],
    [[], { status: "failed", error: { code: "WAIT_TIMEOUT", nodeId: "go" } }],
  ])("leaves by %j when nothing came in time", async (edges, expected) => {
    const steps: Record<string, Step> = { go: ["signal", { name: "go", timeout: "2 days" }] };
    for (const id of ["late", "wrong"]) if (edges.some((edge) => edge.includes(id))) steps[id] = ["end", { output: id }];
    const { engine, clock } = bench(flow("w", steps, edges));
    const paused = await engine.execute({});
    expect(paused.activePaths[0]?.waits?.[0]?.timeoutAt).toBe(clock.now() + 2 * day);
    clock.set(clock.now() + 2 * day - 1);
    expect((await engine.execute({ snapshot: paused })).status).toBe("paused");
    clock.set(clock.now() + 1);
    expect(await engine.execute({ snapshot: viaJson(paused) })).toMatchObject(expected);
  });

  it("is not answered after its time, before somebody noticed that it is over", async () => {
    const { engine, clock } = bench(
      flow("w", { go: ["signal", { name: "go", timeout: "1h" }], late: ["end", { output: "late" }] }, ["go>late@timeout"]),
    );
    const paused = await engine.execute({});
    clock.set(clock.now() + 3_600_000);
    const snapshot = await engine.send(paused, { type: "signal", name: "go", payload: 1 }).catch(() => paused);
    expect((await engine.execute({ snapshot })).output).toBe("late");
  });

  it.each<[Json, string]>([
    [{ name: "go", timeout: "soon" }, "DURATION_INVALID"],
    [{ name: "go", timeout: "20000 days" }, "LIMIT_EXCEEDED"],
    [{ name: "{{ input.missing }}" }, "DATA_INVALID"],
    [{ name: "{{ input.name }}" }, "DATA_INVALID"],
    [{ name: "go", key: "{{ input.name }}" }, "DATA_INVALID"],
    ["{{ input.name }}", "DATA_INVALID"],
  ])("fails with %j by %s, never retried", async (data, code) => {
    const { engine } = bench(flow("w", { go: ["signal", data] }));
    const snapshot = await engine.execute({ input: { name: { toString: "go" } } });
    expect(snapshot).toMatchObject({ status: "failed", error: { code } });
    expect(snapshot.context.go).toHaveLength(1);
  });
});
