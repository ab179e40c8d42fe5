import { describe, expect, it } from "vitest";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

// Redaction takes out only whole secrets, so no message may quote a part of a value that could be a secret.

const jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl";
const thrower = defineNode({
  executor: (data) => {
    throw new TypeError(`cannot call ${new URL(String(data)).href.slice(0, 50)}`);
  },
});

describe("F16 a: a step that fails over a secret", () => {
  it.each<[type: string, data: unknown]>([
    ["set", "{{ date.parse(globals.jwt) }}"],
    ["set", "{{ date.add('2026-01-01', globals.jwt) }}"],
    ["set", "{{ date.diff('2026-01-01', '2026-01-01', globals.jwt) }}"],
    ["set", "{{ input[globals.jwt].x }}"],
    ["set", "{{ globals.jwt.nothing.more }}"],
    ["set", "{{ JSON.parse(globals.jwt) }}"],
    ["wait", { for: "{{ globals.jwt }}" }],
    ["wait", { until: "{{ globals.jwt }}" }],
    ["switch", { value: "{{ globals.jwt }}", cases: "{{ globals.jwt }}" }],
    ["map", { workflow: "{{ globals.jwt }}", items: [1] }],
    ["workflow", { workflow: "{{ globals.jwt }}", detached: true, workflowId: "{{ globals.jwt.repeat(9) }}" }],
    ["fail", { message: "{{ globals.jwt.slice(0, 30) }}" }],
    ["call", "https://{{ globals.jwt.slice(0, 36) }}.example.com"],
  ])("tells no piece of it: %s %j", async (type, data) => {
    const workflow = { id: "w", nodes: [{ id: "a", type, data }], edges: [] };
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: { ...builtinNodes, call: thrower } as never });
    const { status, error } = await engine.execute({ input: {}, globals: { jwt, secrets: { jwt } } } as never);
    expect(status).toBe("failed");
    expect(error?.message.toLowerCase()).not.toContain(jwt.slice(0, 14).toLowerCase());
  });
});
