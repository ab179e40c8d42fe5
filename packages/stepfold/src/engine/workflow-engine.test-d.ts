import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { WorkflowDefinition } from "../core/definition/definition.ts";
import type { Event } from "../core/snapshot/event.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { JsonSchema } from "../core/values/json.ts";
import { defineNode } from "./node/define-node.ts";
import type { GlobalsOf } from "./node/node-definition.ts";
import type { StepContext } from "./node/step-context.ts";
import { defineWorkflow } from "./workflow/define-workflow.ts";
import { WorkflowEngine } from "./workflow-engine.ts";

const plain = defineNode({ input: z.object({ n: z.number() }), executor: (data) => ({ data: data.n }) });
const bank = defineNode({ executor: (_data, step: StepContext<unknown, { bank: string }>) => ({ data: step.globals.bank }) });
const mail = defineNode({ executor: (_data, step: StepContext<{ ok: boolean }, { mail: number }>) => ({ data: step.globals.mail }) });
const workflow = defineWorkflow({
  id: "w",
  nodes: [{ id: "a", type: "plain" }],
  edges: [{ source: "a", target: "a", sourceHandle: null }],
});

describe("JSON Schemas", () => {
  it("are taken as zod gives them", () => {
    const schema = z.toJSONSchema(z.object({ n: z.number() }));
    expectTypeOf(schema).toExtend<JsonSchema>();
    const node = defineNode({ input: schema, output: schema, resume: schema, executor: (_data, step) => step.suspend(null, { schema }) });
    new WorkflowEngine({
      workflow: defineWorkflow({ id: "w", input: schema, nodes: [{ id: "a", type: "node" }], edges: [] }),
      nodeDefinitions: { node },
    });
    // @ts-expect-error a text is no schema
    defineNode({ input: "object", executor: () => ({ data: 1 }) });
  });
});

describe("globals", () => {
  it("are what all nodes need, together", () => {
    expectTypeOf<GlobalsOf<{ plain: typeof plain }>>().toEqualTypeOf<Record<never, never>>();
    expectTypeOf<GlobalsOf<{ plain: typeof plain; bank: typeof bank; mail: typeof mail }>>().toExtend<{ bank: string; mail: number }>();
    expectTypeOf<{ bank: string; mail: number }>().toExtend<GlobalsOf<{ plain: typeof plain; bank: typeof bank; mail: typeof mail }>>();
  });

  it("may be left out where no node needs any", () => {
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: { plain } });
    expectTypeOf(engine.execute).toBeCallableWith({});
    expectTypeOf(engine.execute).toBeCallableWith({ input: 5, globals: {} });
    expectTypeOf(engine.stream).toBeCallableWith({ snapshot: {}, externalPayload: 1, target: { node: "a" } });
    expectTypeOf(engine.execute({})).resolves.toEqualTypeOf<Snapshot>();
  });

  it("are asked for where some node needs them", async () => {
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: { plain, bank, mail } });
    expectTypeOf(engine.execute).toBeCallableWith({ globals: { bank: "b", mail: 5 } });
    // @ts-expect-error the bank and the mail are missing
    engine.execute({});
    // @ts-expect-error the mail is missing
    engine.execute({ globals: { bank: "b" } });
    // @ts-expect-error the mail is a number
    engine.stream({ snapshot: {}, globals: { bank: "b", mail: "m" } });
    expectTypeOf(engine.executeStep).parameter(2).toExtend<{ bank: string; mail: number } | undefined>();
  });
});

describe("the engine", () => {
  it("streams events with snapshots, and ends with one", () => {
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: { plain } });
    expectTypeOf(engine.stream({})).toExtend<AsyncGenerator<{ readonly event: Event; readonly snapshot: Snapshot }, Snapshot, void>>();
  });

  it("takes only commands that there are", () => {
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: { plain } });
    expectTypeOf(engine.send).toBeCallableWith({}, { type: "resume", target: "a", payload: 1 });
    expectTypeOf(engine.send).toBeCallableWith({}, { type: "cancel" });
    // @ts-expect-error there is no such command
    engine.send({}, { type: "explode" });
    // @ts-expect-error a workflow goes on with the current definition, or not
    engine.execute({ snapshot: {}, definition: "older" });
  });

  it("keeps a workflow as it is written", () => {
    expectTypeOf(workflow.nodes[0].type).toEqualTypeOf<"plain">();
    // @ts-expect-error a node has a type
    defineWorkflow({ id: "w", nodes: [{ id: "a" }], edges: [] });
    const nodes = [{ id: "a", type: "t", retryPolicy: { maxAttempts: 3, interval: 1, backoff: "linear" } }] as const;
    // @ts-expect-error a backoff is fixed or exponential
    defineWorkflow({ id: "w", nodes, edges: [] });
  });

  it("refuses keys of a workflow that nobody reads (B6)", () => {
    const a = { id: "a", type: "t" } as const;
    const retryPolicy = { maxAttempts: 3, interval: 1, backoff: "fixed" } as const;
    const edges = [{ source: "a", target: "a", label: "x" }] as const;
    defineWorkflow({ id: "w", nodes: [{ ...a, retryPolicy, position: { x: 1, y: 2 } }], edges });
    const wide: WorkflowDefinition = workflow;
    expectTypeOf(defineWorkflow(wide)).toEqualTypeOf<WorkflowDefinition>();
    // @ts-expect-error a workflow has no "stat"
    defineWorkflow({ id: "w", stat: "a", nodes: [a], edges });
    // @ts-expect-error it is "retryPolicy"
    defineWorkflow({ id: "w", nodes: [{ ...a, retry: { maxAttempts: 3 } }], edges });
    // @ts-expect-error it is "join"
    defineWorkflow({ id: "w", nodes: [a, { ...a, jion: "all" }], edges });
    // @ts-expect-error it is "sourceHandle"
    defineWorkflow({ id: "w", nodes: [a], edges: [{ source: "a", target: "a", sourcehandle: "x" }] });
    // @ts-expect-error it is "maxAttempts"
    defineWorkflow({ id: "w", nodes: [{ ...a, retryPolicy: { ...retryPolicy, attempts: 3 } }], edges });
    // @ts-expect-error it is "limit"
    defineWorkflow({ id: "w", nodes: [a], edges, concurrency: { key: "k", max: 1 } });
    // @ts-expect-error it is "period"
    defineWorkflow({ id: "w", nodes: [a], edges, rateLimit: { limit: 1, per: "1m" } });
    // @ts-expect-error it is "data"
    defineWorkflow({ id: "w", nodes: [{ ...a, compensate: { type: "t", dta: 1 } }], edges });
    // @ts-expect-error also in a workflow inside
    defineWorkflow({ id: "w", nodes: [a], edges, workflows: { inner: { id: "i", nodes: [{ ...a, dta: 1 }], edges } } });
  });
});
