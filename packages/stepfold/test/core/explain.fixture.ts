import { explain } from "../../src/core/explain/explain.ts";
import type { Event } from "../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../src/core/values/json.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import type { NodeDefinitions } from "../../src/engine/node/node-definition.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { VirtualEnvironment } from "../engine/virtual-environment.fixture.ts";

export const nodeDefinitions = {
  ...builtinNodes,
  flaky: defineNode({
    retryPolicy: { maxAttempts: 3, interval: "10s", backoff: "fixed" },
    executor: () => {
      throw new Error("The shop\n is closed.");
    },
  }),
  remember: defineNode({ executor: (_data, step) => (step.resumed ? { data: 1 } : step.suspend({}, { resumeAt: step.now() + 1_000 })) }),
};
const environment = new VirtualEnvironment();
export const inTime = (ms: number): string => new Date(environment.now() + ms).toISOString();
export const minute = 60_000;
export const hour = 60 * minute;

/** Returns the sentences of `explain`: about the whole execution, about each place, and about what comes next (null if nothing does). */
export function told(snapshot: Snapshot, workflow?: WorkflowEngine["workflow"]): { whole: string; places: string[]; next: string | null } {
  const { sentence, places, next } = explain(snapshot, workflow);
  return { whole: sentence, places: places.map((place) => `${place.address}: ${place.sentence}`), next: next?.sentence ?? null };
}

export function engineOf(workflow: object, more: NodeDefinitions = {}): WorkflowEngine<typeof nodeDefinitions> {
  return new WorkflowEngine({ workflow, nodeDefinitions: { ...nodeDefinitions, ...more }, environment });
}

export async function run(workflow: object, input: Json = null): Promise<ReturnType<typeof told>> {
  const engine = engineOf(workflow);
  return told(await engine.execute({ input }), engine.workflow);
}

/** Returns the sentence about the whole execution, first with its workflow, then without. */
export async function only(workflow: object, input: Json = null): Promise<string[]> {
  const engine = engineOf(workflow);
  const snapshot = await engine.execute({ input });
  return [told(snapshot, engine.workflow), told(snapshot)].map(({ whole }) => whole);
}

/** A snapshot with these paths, as a store might give it. */
export function at(...paths: readonly object[]): Snapshot {
  const activePaths = paths.map((path, i) => ({ id: `0.${i}`, turn: 2, visit: 1, attempts: 0, since: 1, stepPath: [], ...path }));
  return { status: "paused", definition: { id: "w", hash: "h" }, activePaths, context: {} } as unknown as Snapshot;
}

/** Returns every event from the start to the first pause, with the snapshot after it. */
export async function played(engine: ReturnType<typeof engineOf>, input: Json = null): Promise<{ event: Event; snapshot: Snapshot }[]> {
  const seen: { event: Event; snapshot: Snapshot }[] = [];
  for await (const { event, snapshot } of engine.stream({ input, workflowId: "one" })) seen.push({ event, snapshot });
  return seen;
}
