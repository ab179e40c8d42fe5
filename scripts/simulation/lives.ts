import type { WorkflowDefinition } from "../../packages/stepfold/src/core/definition/definition.ts";
import { isTerminal, type Snapshot } from "../../packages/stepfold/src/core/snapshot/snapshot.ts";
import { seededShare } from "../../packages/stepfold/src/core/values/hash/seeded.ts";
import type { NodeDefinition } from "../../packages/stepfold/src/engine/node/node-definition.ts";
import type { AnyTyped } from "../../packages/stepfold/src/engine/node/typed.ts";
import type { Random } from "../../packages/stepfold/src/testing/simulation/random.ts";
import type { ClientScript, Scenario } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import { nodes, secret } from "./nodes.ts";
import { canceller, found, unlessOvertaken, untilDecidedAgain } from "./scripts.ts";
import { simulatedStore } from "./simulated-store.ts";

/** The nodes that have a result in every run that was not left early. */
const always = ["a", "b", "each", "go", "join"] as const;
/** The most restarts of one execution by one person. */
const mostRestarts = 6;
const people = ["eve", "joe"] as const;

/**
 * Returns executions that live long: they go on, fail at random in all kinds of places, undo their steps, run steps at their end, and are
 * restarted in every way. Only the rules that hold for every execution are checked, and that none completes without what has failed.
 */
export function randomLives(random: Random): Scenario {
  return livesOf(random, lifeOf);
}

/** @param lifeWith makes one of the workflows */
export function livesOf(random: Random, lifeWith: (id: string, random: Random) => WorkflowDefinition | AnyTyped): Scenario {
  const ids = Array.from({ length: random.between(1, 3) }, (_, index) => `life${index}`);
  const given = ids.flatMap((id) => [lifeWith(id, random.fork(id)), childOf(id)]);
  const workflows = given.map((one) => ("definition" in one ? one.definition : one));
  return {
    store: simulatedStore,
    workflows: given,
    nodeDefinitions: { ...nodes, act, undo: undoing },
    runtime: { globals: { apiKey: secret }, checkpointBytes: random.pick([1, 300, 32_768]) },
    clients: ids.map((id) => [
      owner(id),
      ...people.filter(() => random.chance(0.7)).map((who) => restarter(id, who)),
      ...(random.chance(0.3) ? [canceller(id, random.between(0, 6_000))] : []),
    ]),
    check: ({ snapshot }) =>
      wrongCompletion(
        snapshot,
        workflows.find(({ id }) => id === snapshot.definition.id),
      ),
  };
}

/** Undoes any step. */
export const undoing: NodeDefinition = { executor: () => ({ data: "undone" }) };

/** Fails twice at most in one visit, depending on nothing but the history. */
const act: NodeDefinition = {
  executor(_data, { workflowId, nodeId, idempotencyKey, context }) {
    const failures = (context[nodeId] ?? []).filter(({ error }) => error !== undefined).length;
    if (failures < 2 && seededShare(`${workflowId} ${idempotencyKey} ${failures}`) < 0.3) throw new TypeError(`${nodeId} fails`);
    return { data: nodeId };
  },
};

/** A fork into steps, a map, a wait for a signal, and a join. */
function lifeOf(id: string, random: Random): WorkflowDefinition {
  const undoes = random.chance(0.4) ? { compensate: { type: "undo" } } : {};
  const item = {
    id: "item",
    nodes: [
      { id: "first", type: "act" },
      { id: "second", type: "act" },
    ],
    edges: [{ source: "first", target: "second" }],
  };
  const tolerated: { readonly toleratedFailures?: number } = random.chance(0.3) ? { toleratedFailures: 1 } : {};
  const detached = random.chance(0.3);
  const child = { id: "child", type: "workflow", data: { workflow: `${id}-child`, detached: true } };
  return {
    id,
    start: "a",
    ...(random.chance(0.4) && { onFailure: "finish" as const }),
    ...(random.chance(0.4) && { finally: "last" }),
    workflows: { item },
    nodes: [
      { id: "a", type: "act", ...undoes },
      { id: "b", type: "act", ...(random.chance(0.5) && undoes) },
      { id: "each", type: "map", data: { items: [1, 2, 3], workflow: "item", concurrency: 2, ...tolerated } },
      { id: "go", type: "signal" },
      ...(detached ? [child] : []),
      { id: "join", type: "act", join: "all" },
      { id: "more", type: "goOn", data: { runs: random.between(1, 3) } },
      { id: "end", type: "step" },
      { id: "last", type: "act" },
    ],
    edges: [
      { source: "a", target: "b" },
      { source: "a", target: "each" },
      { source: "b", target: "go" },
      { source: "go", target: "join" },
      { source: "each", target: "join" },
      ...(detached
        ? [
            { source: "a", target: "child" },
            { source: "child", target: "join" },
          ]
        : []),
      { source: "join", target: "more" },
      { source: "more", target: "end", sourceHandle: "done" },
    ],
  };
}

/** A child that goes on, and fails at times. */
function childOf(id: string): WorkflowDefinition {
  return {
    id: `${id}-child`,
    start: "act",
    nodes: [
      { id: "act", type: "act" },
      { id: "more", type: "goOn", data: { runs: 2 } },
      { id: "end", type: "step" },
    ],
    edges: [
      { source: "act", target: "more" },
      { source: "more", target: "end", sourceHandle: "done" },
    ],
  };
}

/** Starts an execution, and sends the signal that each of its runs waits for until its first end. */
function owner(workflowId: string): ClientScript {
  return async ({ runtime, sleep }) => {
    const run = await runtime.start(workflowId, { workflowId, input: {} });
    while (!isTerminal((await run.snapshot()).status)) {
      await unlessOvertaken(() => run.signal("go", {}, { key: ".0" }));
      await sleep(500);
    }
  };
}

/** Restarts an execution in any way each time that it has failed or was cancelled, and sends the signal for which it waits. */
function restarter(workflowId: string, who: string): ClientScript {
  return async (client) => {
    const { random } = client;
    const run = await found(client, workflowId);
    if (!run) return;
    let repeated: { readonly idempotencyKey?: string } = {};
    for (let times = 0; times < mostRestarts; ) {
      const { status, version } = await run.snapshot();
      if (status === "completed") return;
      if (isTerminal(status)) {
        const compensated = random.pick(["again", "keep"] as const);
        const keys = random.pick(["same", "same", "new"] as const);
        const given = random.chance(0.5) ? { idempotencyKey: `${who} after ${version}` } : {};
        // a call that is sent again has no effect, also if the execution has failed since
        if (repeated.idempotencyKey && random.chance(0.4)) await untilDecidedAgain(client, () => run.restart({ compensated, ...repeated }));
        await untilDecidedAgain(client, () => run.restart({ compensated, keys, ...given }));
        repeated = given;
        times++;
      } else await unlessOvertaken(() => run.signal("go", {}, { key: ".0" }));
      await client.sleep(random.between(100, 900));
    }
  };
}

/** I11: an execution does not complete without a result of a step that has failed. */
function* wrongCompletion({ status, context }: Snapshot, definition: WorkflowDefinition | undefined): Generator<string> {
  if (status !== "completed" || !(definition?.code || definition?.nodes.some(({ id }) => id === "join"))) return;
  for (const nodeId of always) {
    const results = context[nodeId] ?? [];
    if (!results.some(({ error }) => error === undefined)) yield `I11 it has completed, and ${nodeId} has no result`;
  }
}
