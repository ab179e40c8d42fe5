import { afterEach, expect, it } from "vitest";
import type { ContinuedEvent, StartedEvent } from "../../../src/core/snapshot/event.ts";
import { draftAfter } from "../../../src/core/transition/apply.ts";
import { begin } from "../../../src/core/transition/begin.ts";
import { draftOfRun } from "../../../src/core/transition/begin-run.ts";
import { closeDraft } from "../../../src/core/transition/draft/close-draft.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { prepareWorkflow } from "../../../src/engine/workflow/prepared-workflow.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { readHistory } from "../../../src/ports/read-history.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** A small random generator, so that a failing seed can be run again. */
function random(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

for (let seed = 1; seed <= 60; seed++)
  it(`a stored execution is the fold of its present run, over continueAs and restarts: seed ${seed}`, async () => {
    const roll = random(seed);
    const done = new Map<string, number>();
    let failing = 0.35;
    const act = defineNode({
      executor: (_data, step) => {
        if (roll() < failing) throw new Error(`no ${step.nodeId}`);
        return { data: { key: step.idempotencyKey, text: "v".repeat(roll() < 0.2 ? 3_000 : 3) }, vars: { n: 1 } } as never;
      },
    });
    const undo = defineNode({ executor: () => ({ data: null }) });
    const nodeDefinitions = { ...builtinNodes, act, undo };
    const withUndo = roll() < 0.3 ? { compensate: { type: "undo" } } : {};
    const item = { id: "item", nodes: [{ id: "p", type: "act" }], edges: [], variables: { n: { initial: 0, reducer: "add" } } };
    const flow = {
      id: "flow",
      start: "a",
      variables: { n: { initial: 0, reducer: "add" } },
      ...(roll() < 0.5 && Object.keys(withUndo).length === 0 && { onFailure: "finish" }),
      ...(roll() < 0.3 && { finally: "fin" }),
      nodes: [
        { id: "a", type: "act", ...withUndo },
        { id: "b", type: "act" },
        { id: "m", type: "map", data: { items: [1, 2, 3], workflow: "item", concurrency: 2 } },
        { id: "s", type: "signal", data: { name: "go" } },
        { id: "j", type: "act" },
        { id: "c", type: "end", data: { continueAs: { input: { n: "{{ (input.n ?? 0) + 1 }}" } } } },
        { id: "fin", type: "act" },
      ],
      edges: [
        { source: "a", target: "b" },
        { source: "a", target: "m" },
        { source: "b", target: "s" },
        { source: "s", target: "j" },
        { source: "m", target: "j" },
        { source: "j", target: "c" },
      ],
    };
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const { runtime } = setUp(
      { store, nodeDefinitions: nodeDefinitions as never, workflows: [flow, item] as never, checkpointBytes: 2_000 } as never,
      environment,
    );
    const run = await runtime.start("flow", { workflowId: "x", input: { n: 0 } });
    let [restarts, signals] = [0, 0];
    for (let turn = 0; turn < 40; turn++) {
      await environment.advance(1_000);
      const snapshot = (await store.load("x"))!;
      const since = snapshot.run?.since ?? 0;
      const events = (await readHistory(store, "x", snapshot.version, since - 1)).map(({ event }) => event);
      const definition = (await store.getDefinition(snapshot.definition.hash))!;
      const { compiled } = prepareWorkflow(definition, nodeDefinitions as never);
      const [first, ...others] = events;
      let draft =
        first!.type === "started" ? begin(compiled, first as StartedEvent) : draftOfRun(compiled, snapshot, first as ContinuedEvent);
      for (const event of others) draft = draftAfter(draft, event, compiled) ?? draft;
      const folded = closeDraft(draft);
      const strip = (value: unknown): unknown => {
        const {
          historyBytes: _,
          answered: __,
          totalExecutionTime: ___,
          lastStartedAt: ____,
          restarts: _5,
          descendants: _6,
          createdAt: _7,
          outbox: _8,
          ...rest
        } = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        return rest;
      };
      expect(strip(folded)).toEqual(strip(snapshot));
      if (snapshot.status === "completed") break;
      if (snapshot.status === "failed" || snapshot.status === "cancelled") {
        failing = Math.max(0.05, failing - 0.05);
        restarts++;
        await run.restart({ compensated: roll() < 0.5 ? "again" : "keep" });
      } else if (roll() < 0.15) await run.cancel().catch(() => undefined);
      else {
        signals++;
        await run.signal("go", roll() < 0.3 ? "y".repeat(2_000) : signals, { idempotencyKey: `k${signals}` }).catch(() => undefined);
      }
    }
    // a step that was in flight when the execution failed may run again; one whose success is in the history may not
    for (const { event } of await readHistory(store, "x")) {
      const key = event.type === "completed" && !event.undoes && (event.output as { key?: string } | null)?.key;
      if (key && event.nodeId !== "j") done.set(`${event.nodeId} ${key}`, (done.get(`${event.nodeId} ${key}`) ?? 0) + 1);
    }
    const twice = [...done].filter(([, times]) => times > 1);
    expect(twice, `completed twice under one key (restarts ${restarts})`).toEqual([]);
  });
