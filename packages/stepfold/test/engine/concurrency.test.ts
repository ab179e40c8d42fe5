import { describe, expect, it } from "vitest";
import { deferred, type Executor, engineOf, giving } from "./engine.fixture.ts";
import { settled } from "./virtual-environment.fixture.ts";

/** An engine whose fork leads to n branches; each branch runs until the test opens its gate. */
function fan(n: number) {
  const open: string[] = [];
  const most = { atOnce: 0 };
  const gates = Array.from({ length: n }, () => deferred<void>());
  const branch = (i: number) => async () => {
    open.push(`b${i}`);
    most.atOnce = Math.max(most.atOnce, open.length);
    await gates[i]!.promise;
    open.splice(open.indexOf(`b${i}`), 1);
    return { data: i };
  };
  const code = { f: giving(1), ...Object.fromEntries(gates.map((_, i) => [`b${i}`, branch(i)])) };
  return {
    ...engineOf(
      code,
      gates.map((_, i) => `f>b${i}`),
    ),
    open,
    most,
    gates,
  };
}

describe("the branches of a fork", () => {
  it("really run at once, and are applied in the order in which they end", async () => {
    const { engine, open, gates } = fan(3);
    const running = engine.execute({});
    await settled();
    expect(open).toEqual(["b0", "b1", "b2"]);
    for (const i of [2, 0, 1]) {
      gates[i]!.resolve();
      await settled();
    }
    const { context, status, output } = await running;
    expect([context.b2?.[0]?.version, context.b0?.[0]?.version, context.b1?.[0]?.version]).toEqual([2, 3, 4]);
    expect([status, output]).toEqual(["completed", 1]);
  });

  it("are no more at once than is allowed: 16 where nobody says", async () => {
    const run = async (n: number, concurrency?: number): Promise<number> => {
      const { engine, most, gates } = fan(n);
      const running = engine.execute(concurrency === undefined ? {} : { concurrency });
      for (const gate of gates) {
        await settled();
        gate.resolve();
      }
      expect((await running).status).toBe("completed");
      return most.atOnce;
    };
    expect(await run(20)).toBe(16);
    expect(await run(5, 2)).toBe(2);
    expect(await run(3, 1)).toBe(1);
  });

  it("see the context as of their own start, each the same whatever the others do meanwhile", async () => {
    const gate = deferred<void>();
    const seen: unknown[] = [];
    const { engine } = engineOf(
      {
        f: giving("f"),
        a: async (_, step) => {
          await gate.promise;
          seen.push(Object.keys(step.context));
          return { data: 1 };
        },
        b: giving("b"),
        c: async (data) => ({ data }),
      },
      ["f>a", "f>b", "b>c"],
      { parts: { c: { data: "{{ $json }}" } } },
    );
    const running = engine.execute({});
    await settled();
    gate.resolve();
    const snapshot = await running;
    expect(seen).toEqual([["f"]]);
    expect(snapshot.context.c?.[0]?.output).toBe("b");
  });

  it("give $json of the node before on the same path, also in loops that overtake each other", async () => {
    const { engine } = engineOf(
      {
        f: giving({ at: 0 }),
        step: (data) => ({ data: { at: (data as { at: number }).at + 1 }, nextHandle: (data as { at: number }).at < 5 ? "again" : null }),
        end: (data) => ({ data }),
      },
      ["f>step", "f>step", "f>step", "step>step@again", "step>end"],
      { parts: { step: { data: "{{ $json }}" }, end: { data: "{{ $json.at }}" } } },
    );
    const snapshot = await engine.execute({ concurrency: 2 });
    expect(snapshot.status).toBe("completed");
    expect(snapshot.context.end?.map(({ output }) => output)).toEqual([6, 6, 6]);
    expect(snapshot.context.step).toHaveLength(18);
  });
});

describe("a time slice", () => {
  it("performs so many tasks and no more, and the next goes on from there", async () => {
    const { engine } = engineOf({ a: giving(1), b: giving(2), c: giving(3) }, ["a>b", "b>c"]);
    let snapshot = await engine.execute({ stepLimit: 2 });
    expect(snapshot).toMatchObject({ status: "active", currentNodeId: "c", steps: 2 });
    snapshot = await engine.execute({ snapshot, stepLimit: 2 });
    expect(snapshot).toMatchObject({ status: "completed", output: 3, steps: 3 });
  });

  it("counts the tasks of all paths", async () => {
    const { engine } = engineOf({ f: giving(1), a: giving(1), b: giving(2), c: giving(3) }, ["f>a", "f>b", "f>c"]);
    const snapshot = await engine.execute({ stepLimit: 3 });
    expect(snapshot).toMatchObject({ status: "active", steps: 3 });
    expect(snapshot.activePaths.map(({ nodeId }) => nodeId)).toEqual(["c"]);
  });
});

describe("limits of an execution", () => {
  it("steps: a loop without an end fails with STEPS_EXCEEDED", async () => {
    const { engine } = engineOf({ a: giving(1) }, ["a>a"], { limits: { steps: 50 } });
    const snapshot = await engine.execute({ initialNodeId: "a" });
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "STEPS_EXCEEDED", nodeId: "a" } });
    expect(snapshot.context.a).toHaveLength(51);
  });

  it("steps are counted over all slices and paths", async () => {
    let calls = 0;
    const { engine } = engineOf(
      {
        a: () => {
          calls++;
          return { data: 1 };
        },
      },
      ["a>a", "a>a"],
      { limits: { steps: 20 } },
    );
    let snapshot = await engine.execute({ initialNodeId: "a", stepLimit: 3 });
    while (snapshot.status === "active")
      snapshot = await engine.execute({ snapshot: JSON.parse(JSON.stringify(snapshot)) as object, stepLimit: 3 });
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "STEPS_EXCEEDED" } });
    expect(calls).toBe(20);
  });

  it("steps bound what runs at once, too", async () => {
    let calls = 0;
    const { engine } = engineOf(
      {
        f: giving(1, { nextHandles: Array(10).fill("x") }),
        a: async () => {
          calls++;
          return { data: 1 };
        },
      },
      ["f>a@x"],
      { limits: { steps: 5 } },
    );
    expect(await engine.execute({})).toMatchObject({ status: "failed", error: { code: "STEPS_EXCEEDED" } });
    expect(calls).toBe(4);
  });

  it("executionBytes: the node that would add too much fails, and what there was stays loadable", async () => {
    const { engine } = engineOf({ a: giving("x".repeat(600), { nextHandle: "again" }), b: giving("b") }, ["a>a@again", "a>b@error"], {
      limits: { executionBytes: 2_000 },
    });
    const snapshot = await engine.execute({ initialNodeId: "a" });
    expect(snapshot).toMatchObject({
      status: "failed",
      error: { code: "LIMIT_EXCEEDED", message: expect.stringContaining("executionBytes") },
    });
    expect(snapshot.context.a).toHaveLength(4);
    expect(snapshot.sizeBytes).toBeLessThanOrEqual(2_000);
    expect(await engine.execute({ snapshot: JSON.parse(JSON.stringify(snapshot)) as object })).toEqual(snapshot);
  });

  it("executionBytes: a suspension counts, too", async () => {
    const { engine } = engineOf({ a: (_, step) => step.suspend("x".repeat(3_000)) }, [], { limits: { executionBytes: 2_000 } });
    expect(await engine.execute({})).toMatchObject({ status: "failed", error: { code: "LIMIT_EXCEEDED" } });
  });

  it("executionBytes: metadata that a step sets counts, too", async () => {
    const executor: Executor = (_, step) => {
      step.setMetadata({ note: "x".repeat(3_000) });
      return { data: 1 };
    };
    const { engine } = engineOf({ a: executor }, [], { limits: { executionBytes: 2_000 } });
    expect(await engine.execute({})).toMatchObject({ status: "failed", error: { code: "LIMIT_EXCEEDED" }, metadata: {} });
  });

  it("paths: a fork too many fails", async () => {
    const { engine } = engineOf({ a: giving(1, { nextHandles: ["x", "x", "x"] }), b: (_, step) => step.suspend() }, ["a>b@x"], {
      limits: { paths: 2 },
    });
    expect(await engine.execute({})).toMatchObject({
      status: "failed",
      error: { code: "LIMIT_EXCEEDED", message: expect.stringContaining("paths") },
    });
    const { engine: wide } = engineOf({ a: giving(1, { nextHandles: ["x", "none"] }), b: (_, step) => step.suspend() }, ["a>b@x"], {
      limits: { paths: 1 },
    });
    expect((await wide.execute({})).error?.code).toBe("HANDLE_UNKNOWN");
    const { engine: plain } = engineOf({ a: giving(1), b: (_, step) => step.suspend() }, ["a>b", "a>b"], { limits: { paths: 2 } });
    expect((await plain.execute({})).status).toBe("paused");
  });
});
