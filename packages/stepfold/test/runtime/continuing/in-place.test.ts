import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const byNode = {
  id: "by-node",
  nodes: [
    { id: "enough", type: "if", data: { condition: "{{ input.round >= 3 }}" } },
    { id: "done", type: "end", data: { output: "{{ input.round }}" } },
    { id: "again", type: "end", data: { continueAs: { input: { round: "{{ input.round + 1 }}" } } } },
  ],
  edges: [
    { source: "enough", target: "done", sourceHandle: "true" },
    { source: "enough", target: "again", sourceHandle: "false" },
  ],
};
const sub = {
  id: "sub",
  nodes: [
    { id: "w", type: "signal", data: { name: "go" } },
    { id: "c", type: "end", data: { continueAs: { input: { n: "{{ (input.n ?? 0) + 1 }}" } } } },
  ],
  edges: [{ source: "w", target: "c" }],
};

describe("continueAs in place", () => {
  it("keeps the id", async () => {
    const { runtime, environment, store } = setUp({ nodeDefinitions: { ...builtinNodes }, workflows: [byNode, sub] as never });
    const run = await runtime.start("by-node", { workflowId: "x", input: { round: 1 } });
    await environment.settle();
    expect(await run.result()).toBe(3);
    expect((await run.snapshot()).run).toMatchObject({ number: 3 });
    console.log(JSON.stringify((await store.events("x", -1, 20)).map(({ event }) => event)));
    const s = await runtime.start("sub", { workflowId: "s", input: { n: 0 } });
    for (let i = 0; i < 3; i++) {
      await environment.settle();
      expect((await s.signal("go", i, { idempotencyKey: `k${i}` })).applied).toBe(true);
      expect((await s.signal("go", i, { idempotencyKey: `k${i}` })).applied).toBe(false);
    }
    await environment.settle();
    const snap = await s.snapshot();
    expect(snap).toMatchObject({ status: "paused", input: { n: 3 }, run: { number: 4 } });
    expect(snap.activePaths[0]!.waits![0]!.id).toBe("3@2");
    await s.cancel();
    await environment.settle();
    await expect(s.result()).rejects.toMatchObject({ code: "EXECUTION_CANCELLED" });
  });
});

describe("restart in place", () => {
  const log: string[] = [];
  let broken = true;
  const act = defineNode({
    executor: (data: { name: string; fails?: boolean }, step) => {
      log.push(`${data.name} ${step.idempotencyKey}`);
      if (data.fails && broken) throw new Error("broken");
      return { data: data.name };
    },
  });
  const nodes = { ...builtinNodes, act };
  const a = (id: string, fails = false) => ({ id, type: "act", data: { name: id, fails } });
  const wf = (id: string, def: object) => ({ id, ...def });
  const flows = [
    wf("line", {
      nodes: [a("x"), a("y", true), a("z")],
      edges: [
        { source: "x", target: "y" },
        { source: "y", target: "z" },
      ],
    }),
    wf("finish", {
      onFailure: "finish",
      start: "f",
      nodes: [a("f"), a("a", true), a("b"), a("c")],
      edges: [
        { source: "f", target: "a" },
        { source: "f", target: "b" },
        { source: "b", target: "c" },
      ],
    }),
    wf("inner", { nodes: [{ id: "w", type: "workflow", data: { workflow: "finish" } }], edges: [] }),
    wf("out", { output: "{{ metadata.total.value }}", nodes: [a("x")], edges: [] }),
    wf("fin", { finally: "e", nodes: [a("x"), a("e", true)], edges: [] }),
    wf("saga", {
      nodes: [{ ...a("x"), compensate: { type: "act", data: { name: "undo" } } }, a("y", true)],
      edges: [{ source: "x", target: "y" }],
    }),
    wf("ask", { nodes: [{ id: "q", type: "approval", data: {} }, a("z")], edges: [{ source: "q", target: "z" }] }),
    wf("kid", { nodes: [a("k", true)], edges: [] }),
    wf("par", {
      nodes: [a("p"), { id: "c", type: "workflow", data: { workflow: "kid", detached: true, workflowId: "kid-1" } }, a("q")],
      edges: [
        { source: "p", target: "c" },
        { source: "c", target: "q" },
      ],
    }),
  ];
  const go = () => {
    log.length = 0;
    broken = true;
    return setUp({ nodeDefinitions: nodes as never, workflows: flows as never });
  };
  for (const [id, again] of [
    ["line", ["y", "z"]],
    ["finish", ["a"]],
    ["inner", ["a"]],
    ["fin", ["e"]],
  ] as const)
    it(`performs again only what failed: ${id}`, async () => {
      const { runtime, environment } = go();
      const run = await runtime.start(id, { workflowId: "r" });
      await environment.settle();
      await expect(run.result()).rejects.toMatchObject({ code: "EXECUTION_FAILED" });
      const before = log.splice(0);
      broken = false;
      await run.restart();
      await environment.settle();
      console.log(id, before, log, JSON.stringify((await run.snapshot()).error ?? null));
      expect(log.map((l) => l.split(" ")[0])).toEqual(again);
      expect(log[0]).toBe(before.find((l) => l.startsWith(again[0]!)));
      expect(await run.snapshot()).toMatchObject({ status: "completed", restarts: 1, workflowId: "r" });
    });
  it("evaluates an output again, undone steps, answers, children", async () => {
    const { runtime, environment } = go();
    const saga = await runtime.start("saga", { workflowId: "saga" });
    await environment.settle();
    await expect(saga.restart()).rejects.toMatchObject({ code: "RESTART_COMPENSATED" });
    broken = false;
    await saga.restart({ compensated: "again" });
    await environment.settle();
    console.log(log);
    expect(log.map((l) => l.split(" ")[0])).toEqual(["x", "y", "undo", "x", "y"]);
    expect(new Set(log).size).toBe(5);
    const ask = await runtime.start("ask", { workflowId: "ask" });
    await environment.settle();
    const [wait] = await ask.waits();
    await ask.cancel();
    await environment.settle();
    await ask.restart();
    expect((await ask.resume({ waitId: wait!.id, payload: { approved: true }, idempotencyKey: "k" })).applied).toBe(true);
    await environment.settle();
    expect(await ask.snapshot()).toMatchObject({ status: "completed" });
    broken = true;
    const par = await runtime.start("par", { workflowId: "par" });
    await environment.settle();
    await expect(par.result()).rejects.toMatchObject({ code: "EXECUTION_FAILED" });
    broken = false;
    log.length = 0;
    await par.restart();
    await environment.settle();
    expect(log.map((l) => l.split(" ")[0])).toEqual(["k", "q"]);
    expect(await par.snapshot()).toMatchObject({ status: "completed" });
    expect(await (await runtime.get("kid-1")).snapshot()).toMatchObject({ status: "completed", restarts: 1 });
  });
});

describe("ends that no step has caused", () => {
  const log: string[] = [];
  let broken = true;
  const act = defineNode({
    executor: (data: { name: string; fails?: boolean; to?: string }, step) => {
      log.push(`${data.name} ${step.idempotencyKey}`);
      if (data.fails && broken) throw new Error("broken");
      return data.to ? { data: data.name, nextHandles: [] } : { data: data.name };
    },
  });
  const n = (id: string, more: object = {}, data: object = {}) => ({ id, type: "act", data: { name: id, ...data }, ...more });
  const edge = (text: string) => {
    const [source, target] = text.split(">");
    return { source, target };
  };
  const fork = { start: "f", edges: ["f>a", "f>b", "a>j", "b>j"].map(edge) };
  const flows = [
    { id: "short", ...fork, nodes: [n("f"), n("a"), n("b", {}, { to: "nowhere" }), n("j", { join: 2 })] },
    { id: "finishing", onFailure: "finish", ...fork, nodes: [n("f"), n("a"), n("b", {}, { fails: true }), n("j", { join: 2 })] },
    {
      id: "stalled",
      start: "f",
      edges: ["f>a", "f>b"].map(edge),
      nodes: [n("f"), n("a", { when: "nodes.b.last != null || metadata.go == true" }), n("b", { when: "nodes.a.last != null" })],
    },
  ];
  for (const [id, code, again, mend] of [
    ["short", "JOIN_SHORT", [], null],
    ["finishing", undefined, ["b", "j"], null],
    ["stalled", "STALLED", ["a", "b"], { when: true }],
  ] as const)
    it(`${id}: no completed step runs again`, async () => {
      log.length = 0;
      broken = true;
      const { runtime, environment } = setUp({ nodeDefinitions: { ...builtinNodes, act } as never, workflows: flows as never });
      const run = await runtime.start(id, { workflowId: "r" });
      await environment.settle();
      const failed = await run.snapshot();
      expect(failed.status).toBe("failed");
      if (code) expect(failed.error?.code).toBe(code);
      broken = false;
      log.length = 0;
      if (id === "short") return expect(run.restart()).rejects.toMatchObject({ code: "FORK_REFUSED" });
      const mended = mend && { ...flows[2], nodes: [n("f"), n("a", { when: "1 == 1" }), n("b", { when: "1 == 1" })] };
      await run.restart(mended ? { definition: mended as never } : {});
      await environment.settle();
      const after = await run.snapshot();
      console.log(id, log, after.status, after.error?.code);
      expect(log.map((line) => line.split(" ")[0])).toEqual(again);
      expect(after.status).toBe(id === "short" ? "failed" : "completed");
    });
});
