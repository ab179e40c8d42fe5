import { describe, expect, it } from "vitest";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { nodeDefinitions } from "../runtime.fixture.ts";

const hang = (): Promise<never> => new Promise(() => undefined);

describe("close on a store that never answers", () => {
  it.each(["claim", "commit", "prune"] as const)("ends after timeoutMs although a %s hangs", async (method) => {
    const environment = virtualEnvironment();
    const memory = memoryStore({ now: () => environment.now() });
    let hangs = false;
    const store = {
      ...memory,
      [method]: (...args: never[]) => (hangs ? hang() : (memory[method] as (...args: never[]) => Promise<unknown>)(...args)),
    } as typeof memory;
    const workflows = [
      {
        id: "w",
        nodes: [
          { id: "a", type: "say" },
          { id: "b", type: "ask" },
        ],
        edges: [{ source: "a", target: "b" }],
      },
    ];
    const runtime = createRuntime({ store, workflows, nodeDefinitions, environment, retention: method === "prune" ? "1h" : {} });
    await environment.settle();
    hangs = true;
    void runtime.start("w", { workflowId: "x" });
    await environment.advance(method === "prune" ? 11 * 60_000 : 1_500);
    let closed = false;
    void runtime.close({ timeoutMs: 1_000 }).then(() => {
      closed = true;
    });
    await environment.advance(60_000);
    expect(closed).toBe(true);
  });
});
