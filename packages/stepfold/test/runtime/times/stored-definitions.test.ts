import { afterEach, describe, expect, it } from "vitest";
import { definitionHash } from "../../../src/core/definition/definition-hash.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** What an earlier version accepted, and what this one refuses. */
const old = {
  id: "w",
  nodes: [
    { id: "wait", type: "wait", data: { until: "{{ date.iso('2026-01-01T00:00:05') }}" } },
    { id: "tell", type: "set", data: "{{ date.format(input, \"HH:mm 'h' T\") }} {{ date.parse(input) }}" },
  ],
  edges: [{ source: "wait", target: "tell" }],
};
const fine = { ...old, nodes: old.nodes.map((node) => ({ ...node, data: node.id === "wait" ? { for: 0 } : null })) };

/** A store in which executions of `fine` are those of `old`, as an earlier version would have written them. */
function asEarlier(store: SnapshotStore): SnapshotStore {
  const [from, to] = [fine, old].map(definitionHash) as [string, string];
  return {
    ...store,
    create: (commit, options) => store.create(JSON.parse(JSON.stringify(commit).replaceAll(from, to)) as Commit, options),
    putDefinition: (_hash, _definition, options) => store.putDefinition(to, old, options),
  };
}

describe("an execution that an earlier version has started", () => {
  it("goes on with the meaning that its times and formats had, although a new definition of that kind is refused", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const earlier = createRuntime({ store: asEarlier(store), environment, workflows: [fine], drive: false });
    await earlier.start("w", { workflowId: "e", input: "2026-01-01T13:05" });
    await earlier.close();
    expect(() => setUp({ store, workflows: [old], nodeDefinitions: builtinNodes }, environment)).toThrow(
      expect.objectContaining({ code: "DEFINITION_INVALID" }),
    );
    const { runtime } = setUp({ store, workflows: [], nodeDefinitions: builtinNodes }, environment);
    const run = await runtime.get("e");
    await environment.advance(4 * second);
    expect(await run.snapshot()).toMatchObject({ status: "paused", definition: { hash: definitionHash(old) } });
    await environment.advance(2 * second);
    expect(await run.result()).toBe(`13:05 h T ${Date.UTC(2026, 0, 1, 13, 5)}`);
  });
});
