import { defineNode, FatalError, type Json, type JsonSchema, type Node, type StepContext, type WorkflowDefinition } from "stepfold";
import type { RuntimeOptions } from "stepfold/runtime";
import { type HostileName, hostileNames, hostileTexts } from "./hostile-texts.ts";

/** What all executions of hostile workflows are started with: data are templates, so that texts come from here. */
export interface HostileInput {
  readonly text: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
}

/** The kinds of executions: what each stands at, or how it has ended. */
export const hostileKinds = ["open", "runs", "fails", "done", "cancelled", "parked", "left"] as const;
export type HostileKind = (typeof hostileKinds)[number];

/** A key of an object. What JSON of the engine refuses as a key gets a word more. */
export function keyOf(name: HostileName): string {
  return name === "proto" ? "__proto__ key" : hostileTexts[name];
}

/** A schema in which everything that an author can write is hostile. */
function hostileSchema(name: HostileName): JsonSchema {
  const text = hostileTexts[name];
  const said = { title: text, description: text, default: text };
  return {
    ...{ type: "object", title: text, description: text },
    properties: {
      [keyOf(name)]: { type: "string", ...said, examples: [text] },
      boxes: { ...said, enum: [text, "other"] },
      list: { ...said, enum: [text, "b", "c", "d", "e", "f"] },
      titled: {
        ...said,
        oneOf: [
          { const: text, title: text },
          { const: "other", title: "Other" },
        ],
      },
      amount: { ...said, type: "number", minimum: 1 },
      group: { ...said, type: "object", properties: { [keyOf(name)]: { type: "boolean", ...said } } },
      any: said,
    },
  };
}

/** The input of every execution of a text. */
export function hostileInput(name: HostileName): HostileInput {
  const text = hostileTexts[name];
  return { text, schema: hostileSchema(name), value: { [keyOf(name)]: text, list: [text, { [keyOf(name)]: [text] }] } };
}

/** A name of a node or a workflow. */
function called(what: string, name: HostileName): string {
  return `${what} ${hostileTexts[name]}`.slice(0, 250);
}

/** The type of the node whose code waits for any answer. */
const freeType = (name: HostileName): string => `free ${hostileTexts[name]}`;

/** Node types with hostile names, errors, handles, payloads and progress. */
export const hostileNodes: NonNullable<RuntimeOptions["nodeDefinitions"]> = {
  break: defineNode({
    executor(data) {
      const { text, value, isFinal } = data as HostileInput & { readonly isFinal?: boolean };
      const error = isFinal ? new FatalError(text, { details: value }) : new Error(text);
      throw Object.assign(error, { code: text.slice(0, 100), name: text.slice(0, 100), details: value });
    },
  }),
  leave: defineNode({
    executor: (data) => ({ data, nextHandle: (data as HostileInput).text.slice(0, 100) }),
  }),
  tell: defineNode({
    async executor(data, step: StepContext) {
      while (!step.signal.aborted) {
        step.heartbeat(data);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return { data: null };
    },
  }),
  ...Object.fromEntries(
    hostileNames.map((name) => [
      freeType(name),
      defineNode({
        executor: (data, step: StepContext) => step.suspend(data, { schema: (data as HostileInput).schema, responders: ["ada"] }),
      }),
    ]),
  ),
};

const all: Readonly<Record<keyof HostileInput, string>> = {
  text: "{{ input.text }}",
  schema: "{{ input.schema }}",
  value: "{{ input.value }}",
};

/** The workflow of a kind of executions of a text. */
export function hostileWorkflow(kind: HostileKind, name: HostileName): WorkflowDefinition {
  const text = hostileTexts[name];
  const about = { name: called("workflow", name), description: text, version: text, metadata: { [keyOf(name)]: text } };
  return { id: `${kind}-${name}`, ...about, input: hostileSchema(name), ...graphs[kind](name) };
}

const signalled: Json = { name: all.text, key: all.text, schema: all.schema };
const final: Json = { ...all, isFinal: true };

type Graph = Pick<WorkflowDefinition, "nodes" | "edges">;

const ask = (name: HostileName): Node => ({
  ...{ id: "ask", name: called("ask", name), type: "approval" },
  data: {
    ...{ title: all.text, message: all.text, details: all.value, schema: all.schema },
    ...{ responders: ["ada", all.text], approvers: [all.text], timeout: "2 days" },
  },
});

const graphs: Readonly<Record<HostileKind, (name: HostileName) => Graph>> = {
  open: (name) => ({
    nodes: [
      { id: "toString", name: called("begin", name), type: "set", data: all },
      ask(name),
      { id: "hear", name: called("hear", name), type: "signal", data: signalled },
      { id: "free", name: called("free", name), type: freeType(name), data: all },
      { id: "valueOf", name: called("decide", name), type: "break", incident: true, data: final },
      {
        ...{ id: "hasOwnProperty", name: called("retry", name), type: "break", data: all },
        retryPolicy: { maxAttempts: 3, interval: "2 days", backoff: "fixed" },
      },
      { id: "leaves", name: called("leave", name), type: "leave", data: all },
      { id: "reached", name: called("reached", name), type: "set", data: all },
    ],
    edges: [
      ...["ask", "hear", "free", "valueOf", "hasOwnProperty", "leaves"].map((target) => ({ source: "toString", target })),
      { source: "leaves", target: "reached", sourceHandle: hostileTexts[name].slice(0, 100) },
    ],
  }),
  runs: (name) => ({ nodes: [{ id: "tell", name: called("tell", name), type: "tell", data: all }], edges: [] }),
  fails: (name) => ({
    nodes: [
      { id: "then", name: called("before", name), type: "set", data: all },
      { id: "break", name: called("break", name), type: "break", data: final },
    ],
    edges: [{ source: "then", target: "break" }],
  }),
  done: (name) => ({
    nodes: [ask(name), { id: "set", name: called("set", name), type: "set", data: "{{ input.text }}" }],
    edges: [{ source: "ask", target: "set", sourceHandle: "approved" }],
  }),
  cancelled: (name) => ({ nodes: [ask(name)], edges: [] }),
  parked: (name) => ({
    nodes: [
      { id: "valueOf", name: called("hold", name), type: "set", data: all, compensate: { type: "break", data: final } },
      { id: "break", name: called("break", name), type: "break", data: final },
    ],
    edges: [{ source: "valueOf", target: "break" }],
  }),
  left: (name) => ({ nodes: [{ id: "lacks", name: called("lacks", name), type: `lacking ${hostileTexts[name]}` }], edges: [] }),
};
