import { afterEach, describe, expect, it } from "vitest";
import { defineDurable } from "../../src/durable/define-durable.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { AppendedRow, Commit, SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { altered } from "../../src/testing/broken/broken-store.ts";
import { closeAll, setUp } from "../runtime/runtime.fixture.ts";

afterEach(closeAll);

/** A store that keeps its commits, and counts the rows that are read from it. */
function counted() {
  const plain = memoryStore();
  const commits: Commit[] = [];
  const read = { rows: 0, loads: 0 };
  const store: SnapshotStore = altered(plain, {
    async commit(commit) {
      await plain.commit(commit);
      commits.push(commit);
    },
    async events(...asked): Promise<readonly AppendedRow[]> {
      const rows = await plain.events(...asked);
      read.rows += rows.length;
      return rows;
    },
    load(workflowId) {
      read.loads++;
      return plain.load(workflowId);
    },
  });
  return { store, commits, read };
}

/** JSON in which all numbers, also within texts, are one digit. */
function withoutNumbers(value: unknown): string {
  return JSON.stringify(value).replace(/\d+/g, "0");
}

describe("what a step of code costs", () => {
  it("is one event and one commit, as for a node of a loop", async () => {
    const steps = 100;
    const code = defineDurable({
      id: "code",
      async run({ step }) {
        for (let i = 0; i < steps; i++) await step.run("work", () => "done");
      },
    });
    const circle = {
      id: "circle",
      nodes: [{ id: "work", type: "work", keep: 1 }],
      edges: [{ source: "work", target: "work", sourceHandle: "again" }],
    };
    let left = steps;
    const work = defineNode({ handles: ["again", "done"], executor: () => ({ data: "done", nextHandle: --left > 0 ? "again" : "done" }) });
    const costs = async (workflow: string) => {
      const { store, commits, read } = counted();
      const { runtime } = setUp({ store, workflows: [code, circle], nodeDefinitions: { ...builtinNodes, work } as never });
      const run = await runtime.start(workflow);
      await run.settled();
      expect(await run.snapshot()).toMatchObject({ status: "completed" });
      return { commits: commits.length, events: commits.reduce((sum, { events }) => sum + events.length, 0), rows: read.rows };
    };
    const [node, step] = [await costs("circle"), await costs("code")];
    // the end of the code is an event, and its commit
    expect(step).toEqual({ ...node, commits: node.commits + 1, events: node.events + 1 });
    expect(step.events).toBe(steps + 1);
  });

  it("is in the last of 10,000 what it is in the 100th: bytes of the head and of the commit, and nothing is read", async () => {
    const { store, commits, read } = counted();
    const seen: { readonly rows: number; readonly loads: number }[] = [];
    const code = defineDurable({
      id: "code",
      async run({ step }) {
        for (let i = 0; i < 10_000; i++) {
          if (i === 100 || i === 9_999) seen.push({ ...read });
          await step.run("work", () => "done");
        }
      },
    });
    const { runtime } = setUp({ store, workflows: [code], limits: { steps: 20_000 } });
    await (await runtime.start(code)).settled();
    const bytesOf = (commit: Commit): readonly number[] => {
      const { head, events, children, checkpoint } = commit;
      return [head, events, children, checkpoint].map((part) => (part === undefined ? 0 : withoutNumbers(part).length));
    };
    const single = commits.filter(({ events, checkpoint }) => events.length === 1 && events[0]!.type === "completed" && !checkpoint);
    expect(bytesOf(single.at(-2)!)).toEqual(bytesOf(single[100]!));
    expect(seen[1]).toEqual(seen[0]);
  });
});
