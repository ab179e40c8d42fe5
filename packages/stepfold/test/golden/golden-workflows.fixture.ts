import type { WorkflowDefinition } from "../../src/core/definition/definition.ts";

const edges = (...drawn: readonly string[]): WorkflowDefinition["edges"] =>
  drawn.map((text) => {
    const [, source, target, sourceHandle] = /^(\w+)>(\w+)(?:@(\w+))?$/.exec(text)!;
    return sourceHandle === undefined ? { source: source!, target: target! } : { source: source!, target: target!, sourceHandle };
  });
const ask = (id: string) => ({ id, type: "approval" });
const set = (id: string, data: unknown) => ({ id, type: "set", data }) as WorkflowDefinition["nodes"][number];

/** The workflows of the golden snapshots, by their names. `flaky` is a node type that fails in the process that made the snapshots. */
export const goldenWorkflows: Readonly<Record<string, WorkflowDefinition>> = {
  approval: { id: "approval", nodes: [set("a", 1), ask("q"), set("z", "{{ input.n + 1 }}")], edges: edges("a>q", "q>z@approved") },
  map: {
    id: "map",
    nodes: [{ id: "m", type: "map", data: { items: [1, 2, 3], workflow: "item", concurrency: 2 } }, set("z", "{{ nodes.m.last.data }}")],
    edges: edges("m>z"),
    workflows: { item: { id: "item", nodes: [ask("q"), set("o", "{{ input }}")], edges: edges("q>o@approved") } },
  },
  inbox: {
    id: "inbox",
    nodes: [ask("q"), { id: "s", type: "signal", data: { name: "go" } }, set("z", "{{ nodes.s.last.data }}")],
    edges: edges("q>s@approved", "s>z"),
  },
  retrying: {
    id: "retrying",
    nodes: [{ id: "f", type: "flaky", retryPolicy: { maxAttempts: 5, interval: "1h", backoff: "fixed" } }, set("z", 1)],
    edges: edges("f>z"),
  },
  incident: { id: "incident", nodes: [{ id: "f", type: "flaky", incident: true }, set("z", 1)], edges: edges("f>z") },
  closing: { id: "closing", finally: "bye", nodes: [ask("q"), ask("bye")], edges: [] },
  undoing: {
    id: "undoing",
    nodes: [{ ...set("a", 1), compensate: { type: "approval" } }, ask("q")],
    edges: edges("a>q"),
  },
  join: {
    id: "join",
    start: "f",
    nodes: [{ id: "f", type: "noop" }, set("a", 1), ask("b"), { ...set("j", "{{ nodes.b.last.data }}"), join: "all" }],
    edges: edges("f>a", "f>b", "a>j", "b>j@approved"),
  },
  timed: { id: "timed", timeout: "2d", concurrency: { key: "k", limit: 1 }, nodes: [ask("q"), set("z", 1)], edges: edges("q>z@approved") },
  /** Goes on as `ID~2` in the version that made the snapshots. */
  continued: {
    id: "continued",
    nodes: [
      { id: "more", type: "if", data: { condition: "{{ input.n == 1 }}" } },
      { id: "again", type: "end", data: { continueAs: { input: { n: 2 } } } },
    ],
    edges: edges("more>again@true"),
  },
};
