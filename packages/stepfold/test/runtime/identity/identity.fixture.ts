import { afterAll } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { RuntimeOptions } from "../../../src/runtime/context/runtime-options.ts";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
import { schedules } from "../../../src/schedules/schedules.ts";

/** Opens an empty store. The clock is the real one, because that of a database cannot be set. */
export type OpenStore = () => Promise<SnapshotStore>;

/** A runtime with what its steps have done. */
export interface Bench {
  readonly runtime: Runtime;
  readonly store: SnapshotStore;
  /** `NODE KEY` for each call of the executor of an `act` node. */
  readonly done: string[];
  /** The ids of the nodes of type `act` that fail. */
  readonly broken: Set<string>;
  readonly problems: string[];
  /** Opens another runtime on the same store, as another process would. */
  elsewhere(more?: Partial<RuntimeOptions>): Runtime;
}

/** The nodes of the calls, without their keys. */
export const nodesOf = (done: readonly string[]): string[] => done.map((call) => call.split(" ")[0]!);

/** Makes benches, and closes everything at the end of the tests. */
export function benches(openStore: OpenStore) {
  const opened: { close(): Promise<unknown> }[] = [];
  afterAll(async () => {
    for (const one of opened.reverse()) await one.close();
  });
  return async (workflows: readonly object[], more: Partial<RuntimeOptions> = {}): Promise<Bench> => {
    const done: string[] = [];
    const broken = new Set<string>();
    const problems: string[] = [];
    const act = defineNode({
      executor(data: { readonly handles?: readonly string[] } | undefined, step) {
        done.push(`${step.nodeId} ${step.idempotencyKey}`);
        if (broken.has(step.nodeId) || broken.has(`${step.nodeId} ${JSON.stringify(step.input)}`))
          throw new Error(`${step.nodeId} is broken`);
        return data?.handles ? { data: step.nodeId, nextHandles: data.handles } : { data: step.nodeId };
      },
    });
    const store = await openStore();
    opened.push(store);
    const options: RuntimeOptions = {
      store,
      nodeDefinitions: { ...builtinNodes, act },
      workflows: workflows as readonly WorkflowDefinition[],
      pollMs: 10,
      leaseMs: 2_000,
      schedules: schedules(),
      onProblem: (workflowId, error) => void problems.push(`${workflowId} ${(error as { code?: string }).code}`),
      ...more,
    };
    const open = (other: Partial<RuntimeOptions> = {}): Runtime => {
      const runtime = createRuntime({ ...options, ...other });
      opened.push(runtime);
      return runtime;
    };
    return { runtime: open(), store, done, broken, problems, elsewhere: open };
  };
}

/** An `act` node. */
export const act = (id: string, more: object = {}): object => ({ id, type: "act", ...more });

/** An edge: `a>b`, `a>b@handle`. */
export function edges(...drawn: readonly string[]): object[] {
  return drawn.map((text) => {
    const [, source, target, sourceHandle] = /^(\w+)>(\w+)(?:@(\w+))?$/.exec(text)!;
    return { source, target, ...(sourceHandle && { sourceHandle }) };
  });
}

/** Waits until an execution is in a state. @throws if that takes longer than ten seconds */
export async function until(run: Run, is: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
  for (let tries = 0; ; tries++) {
    const snapshot = await run.snapshot();
    if (is(snapshot)) return snapshot;
    if (tries > 1_000) throw new RangeError(`${snapshot.workflowId} stays ${snapshot.status} at ${snapshot.currentNodeId}`);
    await pause(10);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Waits until a condition holds. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 1_000) throw new RangeError("it does not become true");
    await pause(10);
  }
}

export const ended = ({ status }: Snapshot): boolean => status === "completed" || status === "failed" || status === "cancelled";
export const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "no error",
    ({ code }) => code,
  );
