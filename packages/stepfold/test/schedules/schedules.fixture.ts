import type { WorkflowDefinition } from "../../src/core/definition/definition.ts";
import type { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { Json } from "../../src/core/values/json.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import type { RuntimeOptions } from "../../src/runtime/context/runtime-options.ts";
import type { ScheduleHost, SchedulesPart } from "../../src/runtime/context/schedule-host.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { schedules } from "../../src/schedules/schedules.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../src/testing/virtual-environment.ts";

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

const open: Runtime[] = [];

/** Closes all runtimes of a test. It is called after each test. */
export function closeAll(): void {
  for (const runtime of open.splice(0)) void runtime.close({ timeoutMs: 1 });
}

/** A workflow that ends at once, with its input as output. */
export const quick: WorkflowDefinition = { id: "quick", nodes: [{ id: "say", type: "set", data: "{{ input }}" }], edges: [] };
/** A workflow that takes as long as its input says. */
export const slow: WorkflowDefinition = {
  id: "slow",
  nodes: [{ id: "work", type: "wait", data: { for: "{{ input.for }}" } }],
  edges: [],
};
/** A workflow whose input must be a number. */
const strict: WorkflowDefinition = { ...quick, id: "strict", input: { type: "number" } };

/** A runtime with schedules on a virtual clock, which begins at 2026-01-01T00:00:00Z. */
export function scheduling(more: Partial<RuntimeOptions> = {}, environment: VirtualEnvironment = virtualEnvironment()) {
  const store: SnapshotStore = more.store ?? memoryStore({ now: () => environment.now() });
  const problems: string[] = [];
  const runtime = createRuntime({
    store,
    environment,
    nodeDefinitions: builtinNodes,
    workflows: [quick, slow, strict],
    schedules: schedules(),
    onProblem: (workflowId, error) => void problems.push(`${workflowId} ${(error as StepfoldError).code}`),
    ...more,
  });
  open.push(runtime);
  return { environment, store, runtime, problems };
}

/** The times in the ids of the executions that a schedule has started, the oldest first. */
export async function startsOf(store: SnapshotStore, name: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list({ idPrefix: `${name}@`, order: "oldest", limit: 1_000, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.items.map(({ workflowId }) => workflowId.slice(name.length + 1)));
    cursor = page.nextCursor;
  }
  return ids;
}

/** Converts a time in January 2026 to milliseconds, for example `"01T02:00:00Z"`. */
export function at(text: string): number {
  return Date.parse(`2026-01-${text}`);
}

/** Schedules of a runtime, and a way to send one of them anything, as another version of the library or a damaged row could. */
export function tellable(): { readonly part: SchedulesPart; tell(name: string, payload: unknown): Promise<void> } {
  const part = schedules();
  let host: ScheduleHost | null = null;
  return {
    part: {
      ...part,
      open(given) {
        host = given;
        return part.open(given);
      },
    },
    tell: (name, payload) => host!.tell(`schedule:${name}`, payload as Json),
  };
}
