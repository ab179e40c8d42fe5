import { describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "./definition.ts";
import { definitionHash } from "./definition-hash.ts";

const base = {
  id: "flow",
  name: "Flow",
  description: "d",
  version: "1",
  metadata: { owner: "x" },
  input: { type: "object" },
  output: "{{ input }}",
  start: "a",
  nodes: [
    { id: "a", type: "t", data: { x: 1, y: 2 }, timeout: "5s", keep: 3, metadata: { position: { x: 1 } } },
    { id: "b", type: "t", retryPolicy: { maxAttempts: 3, interval: 5, backoff: "fixed" as const } },
  ],
  edges: [{ id: "e", source: "a", target: "b", sourceHandle: null, targetHandle: "in" }],
} satisfies WorkflowDefinition;
const [a, b] = base.nodes;
const [e] = base.edges;

describe("definitionHash", () => {
  it("is 64 hexadecimal digits, the same each time", () => {
    expect(definitionHash(base)).toMatch(/^[0-9a-f]{64}$/);
    expect(definitionHash(JSON.parse(JSON.stringify(base)))).toBe(definitionHash(base));
  });

  it.each<[string, object]>([
    ["the name", { name: "Other" }],
    ["no name", { name: undefined }],
    ["the description", { description: "other" }],
    ["the version label", { version: "2" }],
    ["metadata", { metadata: {} }],
    ["a node's place and label", { nodes: [{ ...a, metadata: { position: { x: 2 } }, position: { x: 5 }, selected: true }, b] }],
    ["the order of keys", { nodes: [{ data: { y: 2, x: 1 }, keep: 3, timeout: "5s", type: "t", id: "a" }, b] }],
    ["a target handle", { edges: [{ ...e, targetHandle: "other" }] }],
    ["the way to write the default handle", { edges: [{ ...e, sourceHandle: "" }] }],
    ["an editor's own keys", { viewport: { zoom: 2 }, edges: [{ ...e, animated: true }] }],
  ])("does not change with %s", (_, change) => {
    expect(definitionHash({ ...base, ...change })).toBe(definitionHash(base));
  });

  it.each<[string, object]>([
    ["the id", { id: "flow2" }],
    ["the input schema", { input: { type: "array" } }],
    ["no input schema", { input: undefined }],
    ["the output", { output: "{{ 1 }}" }],
    ["the start", { start: "b" }],
    ["a node's data", { nodes: [{ ...a, data: { x: 1, y: 3 } }, b] }],
    ["a node's type", { nodes: [{ ...a, type: "u" }, b] }],
    ["a node's id", { nodes: [{ ...a, id: "c" }, b] }],
    ["a timeout", { nodes: [{ ...a, timeout: "6s" }, b] }],
    ["keep", { nodes: [{ ...a, keep: 4 }, b] }],
    ["a retry policy", { nodes: [a, { id: "b", type: "t" }] }],
    ["the order of nodes", { nodes: [b, a] }],
    ["an edge's end", { edges: [{ ...e, target: "a" }] }],
    ["an edge's handle", { edges: [{ ...e, sourceHandle: "yes" }] }],
    ["an edge's id", { edges: [{ ...e, id: "f" }] }],
    ["one edge less", { edges: [] }],
  ])("changes with %s", (_, change) => {
    expect(definitionHash({ ...base, ...change })).not.toBe(definitionHash(base));
  });
});
