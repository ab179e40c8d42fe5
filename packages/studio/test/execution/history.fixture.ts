import { type Event, systemEnvironment, type WorkflowDefinition } from "stepfold";
import { createRuntime, type Run } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { type VirtualEnvironment, virtualEnvironment } from "stepfold/testing";
import { testNodes } from "./nodes.fixture.ts";

export const second = 1_000;
export const minute: number = 60 * second;

/** A workflow as a test writes it: an edge is `a>b`, or `a>b@handle`. */
export function flow(id: string, nodes: readonly object[], edges: readonly string[] = [], more: object = {}): WorkflowDefinition {
  const drawn = edges.map((edge) => {
    const [, source, target, sourceHandle] = /^([^>]+)>([^@]+)(?:@(.+))?$/.exec(edge)!;
    return { source, target, ...(sourceHandle !== undefined && { sourceHandle }) };
  });
  return { id, nodes, edges: drawn, ...more } as WorkflowDefinition;
}

/** An order: a price, a service that fails once, an approval with a deadline, and two ends. */
export const order: WorkflowDefinition = flow(
  "order",
  [
    { id: "price", type: "set", data: { total: "{{ input.total }}" } },
    { id: "charge", type: "flaky", retryPolicy: { maxAttempts: 3, interval: "10s", backoff: "fixed" } },
    { id: "approve", type: "approval", data: { title: "Ship it?", responders: ["ada", "bob"], timeout: "2 hours" } },
    { id: "shipped", type: "end", join: "all" },
    { id: "declined", type: "end", data: { terminate: true } },
  ],
  ["price>charge", "price>approve", "charge>shipped", "approve>shipped@approved", "approve>declined@rejected"],
);

/** A loop that passes two nodes in each round. */
export const loop: WorkflowDefinition = flow(
  "loop",
  [
    { id: "count", type: "set", data: { n: "{{ (nodes.count.last?.data.n ?? 0) + 1 }}" }, keep: 2 },
    { id: "more", type: "if", data: { condition: "{{ nodes.count.last.data.n < input.rounds }}" }, keep: 2 },
    { id: "done", type: "end" },
  ],
  ["count>more", "more>count@true", "more>done@false"],
  { start: "count" },
);

/** A map whose items wait for an answer. */
export const parcels: WorkflowDefinition = flow(
  "parcels",
  [
    { id: "pack", type: "map", data: { workflow: "label", items: "{{ input.items }}", concurrency: 4, toleratedFailures: "100%" } },
    { id: "sent", type: "end" },
  ],
  ["pack>sent"],
  { workflows: { label: { id: "label", nodes: [{ id: "ask", type: "approval", data: { title: "Print?" } }], edges: [] } } },
);

/** An execution that a real runtime has made, and everything that a page asks for. */
export interface History {
  readonly run: Run;
  readonly environment: VirtualEnvironment;
  /** All events so far. */
  events(): Promise<Event[]>;
  /** All events of another execution of the store. */
  eventsOf(workflowId: string): Promise<Event[]>;
  /** The definitions by their hashes. */
  definition(hash: string): Promise<WorkflowDefinition | null>;
  close(): void;
}

/** Starts an execution on a virtual clock, in a store in memory, and lets it come to rest. */
export async function startHistory(workflow: WorkflowDefinition, input: unknown, workflowId = "one"): Promise<History> {
  const environment = virtualEnvironment();
  const store = memoryStore({ now: environment.now });
  const runtime = createRuntime({ store, workflows: [workflow], nodeDefinitions: testNodes(), environment });
  const run = await runtime.start(workflow.id, { workflowId, input });
  await environment.settle();
  await environment.advance(1);
  const eventsOf = async (id: string): Promise<Event[]> => {
    const events: Event[] = [];
    for (;;) {
      const rows = await store.events(id, events.at(-1)?.version ?? -1, 1_000);
      events.push(...rows.map(({ event }) => event));
      if (rows.length < 1_000) return events;
    }
  };
  return {
    run,
    environment,
    events: () => eventsOf(workflowId),
    eventsOf,
    definition: (hash) => store.getDefinition(hash) as Promise<WorkflowDefinition | null>,
    close: () => void runtime.close({ timeoutMs: 1 }),
  };
}

/** The time that the real clock shows, for what measures. */
export const realNow: () => number = () => systemEnvironment.monotonicMs();
