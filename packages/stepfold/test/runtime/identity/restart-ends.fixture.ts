import { describe, expect, it } from "vitest";
import type { Run } from "../../../src/runtime/handle/run.ts";
import type { RestartOptions } from "../../../src/runtime/index.ts";
import { act, type Bench, benches, edges, ended, nodesOf, type OpenStore, until } from "./identity.fixture.ts";

/** One way to end, and what a restart of that performs. */
interface Way {
  readonly what: string;
  readonly workflows: readonly object[];
  /** Nodes that fail until the restart; `node input` breaks one item of a map. */
  readonly broken?: readonly string[];
  /** What ends the execution, besides broken nodes. */
  readonly end?: (run: Run, bench: Bench) => Promise<unknown>;
  readonly options?: RestartOptions;
  /** What happens between the restart and the end. */
  readonly then?: (run: Run) => Promise<unknown>;
  /** The nodes that are performed after the restart, in any order. */
  readonly performs: readonly string[];
  /** Of these, those that are performed again under the key that they had. */
  readonly same?: readonly string[];
  /** Of these, those that are performed again under a new key. */
  readonly anew?: readonly string[];
}

const line = (id: string, more: object = {}): object => ({
  id,
  nodes: [act("x"), act("y"), act("z")],
  edges: edges("x>y", "y>z"),
  ...more,
});
const fork = { start: "f", edges: edges("f>a", "f>b", "b>c") };
const answered = async (run: Run): Promise<void> => void (await run.resume({ payload: { approved: true } }));
const waits = (run: Run): Promise<unknown> => until(run, ({ status }) => status === "paused");

const ways: readonly Way[] = [
  { what: "a step has failed", workflows: [line("flow")], broken: ["y"], performs: ["y", "z"], same: ["y"] },
  {
    what: "a step has failed, with new keys",
    workflows: [line("flow")],
    broken: ["y"],
    options: { keys: "new" },
    performs: ["y", "z"],
    anew: ["y"],
  },
  {
    what: "a wait has timed out",
    workflows: [
      {
        id: "flow",
        nodes: [act("x"), { id: "q", type: "signal", data: { name: "go", timeout: "100ms" } }, act("z")],
        edges: edges("x>q", "q>z"),
      },
    ],
    then: (run) => waits(run).then(() => run.signal("go")),
    performs: ["z"],
  },
  {
    what: "a step in a sub-workflow has failed",
    workflows: [
      {
        id: "flow",
        nodes: [act("before"), { id: "w", type: "workflow", data: { workflow: "line" } }, act("after")],
        edges: edges("before>w", "w>after"),
      },
      line("line"),
    ],
    broken: ["y"],
    performs: ["y", "z", "after"],
    same: ["y"],
  },
  {
    what: "items of a map have failed, also tolerated ones",
    workflows: [
      {
        id: "flow",
        nodes: [
          { id: "m", type: "map", data: { items: [0, 1, 2, 3], workflow: "item", toleratedFailures: 1, concurrency: 1 } },
          act("after"),
        ],
        edges: edges("m>after"),
      },
      { id: "item", nodes: [act("p"), act("q")], edges: edges("p>q") },
    ],
    broken: ["q 1", "q 2"],
    performs: ["q", "q", "p", "q", "after"],
    same: ["q", "q"],
  },
  {
    what: "items of a map inside an item have failed",
    workflows: [
      {
        id: "flow",
        nodes: [{ id: "m", type: "map", data: { items: [0, 1], workflow: "outer", toleratedFailures: 1 } }, act("after")],
        edges: edges("m>after"),
      },
      {
        id: "outer",
        nodes: [act("o"), { id: "n", type: "map", data: { items: [10, 11], workflow: "inner", toleratedFailures: 1 } }],
        edges: edges("o>n"),
      },
      { id: "inner", nodes: [act("i")], edges: [] },
    ],
    broken: ["i 10", "i 11"],
    performs: ["i", "i", "i", "i", "after"],
    same: ["i", "i", "i", "i"],
  },
  {
    what: "a path has failed while the others went on",
    workflows: [{ id: "flow", onFailure: "finish", ...fork, nodes: [act("f"), act("a"), act("b"), act("c")] }],
    broken: ["a"],
    performs: ["a"],
    same: ["a"],
  },
  {
    what: "a path in a sub-workflow has failed while the others went on",
    workflows: [
      { id: "flow", nodes: [{ id: "w", type: "workflow", data: { workflow: "inner" } }, act("after")], edges: edges("w>after") },
      { id: "inner", onFailure: "finish", ...fork, nodes: [act("f"), act("a"), act("b"), act("c")] },
    ],
    broken: ["a", "c"],
    performs: ["a", "c", "after"],
    same: ["a", "c"],
  },
  {
    what: "a whole sub-workflow has failed while other paths went on",
    workflows: [
      {
        id: "flow",
        onFailure: "finish",
        ...fork,
        nodes: [act("f"), { id: "a", type: "workflow", data: { workflow: "line" } }, act("b"), act("c")],
      },
      line("line"),
    ],
    broken: ["y"],
    performs: ["y", "z"],
    same: ["y"],
  },
  {
    what: "the output could not be computed",
    workflows: [line("flow", { output: "{{ metadata.total.value }}" })],
    options: { definition: line("flow", { output: "{{ nodes.z.last.data }}" }) as never },
    performs: [],
  },
  {
    what: "the output of a sub-workflow could not be computed",
    workflows: [
      {
        id: "flow",
        nodes: [{ id: "w", type: "workflow", data: { workflow: "line" } }, act("after")],
        edges: edges("w>after"),
        workflows: { line: line("line", { output: "{{ metadata.total.value }}" }) },
      },
    ],
    end: (run) => run.settled().then(() => run.snapshot()),
    options: {
      definition: {
        id: "flow",
        nodes: [{ id: "w", type: "workflow", data: { workflow: "line" } }, act("after")],
        edges: edges("w>after"),
        workflows: { line: line("line", { output: 1 }) },
      } as never,
    },
    performs: ["after"],
  },
  {
    what: "nothing could move any more",
    workflows: [
      {
        id: "flow",
        ...fork,
        edges: edges("f>a", "f>b"),
        nodes: [act("f"), act("a", { when: "nodes.b.last != null" }), act("b", { when: "nodes.a.last != null" })],
      },
    ],
    options: {
      definition: {
        id: "flow",
        ...fork,
        edges: edges("f>a", "f>b"),
        nodes: [act("f"), act("a"), act("b", { when: "nodes.a.last != null" })],
      } as never,
    },
    performs: ["a", "b"],
  },
  {
    what: "nothing could move from the beginning",
    workflows: [{ id: "flow", nodes: [act("a", { when: "1 == 2" })], edges: [] }],
    options: { definition: { id: "flow", nodes: [act("a")], edges: [] } as never },
    performs: ["a"],
  },
  {
    what: "too few paths came to a join",
    workflows: [
      {
        id: "flow",
        start: "f",
        edges: edges("f>a", "f>b", "a>j", "b>j"),
        nodes: [act("f"), act("a"), act("b", { data: { handles: [] } }), act("j", { join: 2 })],
      },
    ],
    options: {
      definition: {
        id: "flow",
        start: "f",
        edges: edges("f>a", "f>b", "a>j", "b>j"),
        nodes: [act("f"), act("a"), act("b", { data: { handles: [] } }), act("j", { join: 1 })],
      } as never,
    },
    performs: ["j"],
  },
  {
    what: "the deadline has passed",
    workflows: [
      // time enough for x on a busy server: if x were under way at the deadline, the restart would rightly perform it again
      { id: "flow", timeout: "2s", nodes: [act("x"), { id: "q", type: "approval" }, act("z")], edges: edges("x>q", "q>z@approved") },
    ],
    options: {
      timeout: "1m",
      definition: { id: "flow", nodes: [act("x"), { id: "q", type: "approval" }, act("z")], edges: edges("x>q", "q>z@approved") } as never,
    },
    then: (run) => waits(run).then(() => answered(run)),
    performs: ["z"],
  },
  {
    what: "it was cancelled while it waited",
    workflows: [{ id: "flow", nodes: [act("x"), { id: "q", type: "approval" }, act("z")], edges: edges("x>q", "q>z@approved") }],
    end: (run) => waits(run).then(() => run.cancel()),
    then: answered,
    performs: ["z"],
  },
  {
    what: "a `finally` node has failed, and the execution would have completed",
    workflows: [{ id: "flow", finally: "e", nodes: [act("x"), act("e"), act("g")], edges: edges("e>g") }],
    broken: ["e"],
    performs: ["e", "g"],
    same: ["e"],
  },
  {
    what: "a step and a `finally` node have failed",
    workflows: [{ id: "flow", finally: "e", nodes: [act("x"), act("y"), act("e")], edges: edges("x>y") }],
    broken: ["y", "e"],
    performs: ["y", "e"],
    same: ["y"],
    anew: ["e"],
  },
  {
    what: "an incident was answered with fail",
    workflows: [{ id: "flow", nodes: [act("x"), act("y", { incident: true }), act("z")], edges: edges("x>y", "y>z") }],
    broken: ["y"],
    end: (run) => waits(run).then(() => run.resume({ payload: { action: "fail" } })),
    then: (run) => waits(run).then(() => run.resume({ payload: { action: "skip", output: 1 } })),
    performs: ["z"],
  },
  {
    what: "steps were undone, and count as done",
    workflows: [{ id: "flow", nodes: [act("x", { compensate: { type: "act" } }), act("y")], edges: edges("x>y") }],
    broken: ["y"],
    options: { compensated: "keep" },
    performs: ["y"],
    same: ["y"],
  },
  {
    what: "steps were undone, and are performed again",
    workflows: [{ id: "flow", nodes: [act("w"), act("x", { compensate: { type: "act" } }), act("y")], edges: edges("w>x", "x>y") }],
    broken: ["y"],
    options: { compensated: "again" },
    performs: ["x", "y"],
    anew: ["x", "y"],
  },
];

/** Every way to end, times restart: what has failed is performed again, and no completed step. */
export function restartEnds(name: string, openStore: OpenStore): void {
  describe(`${name}: a restart after`, () => {
    const open = benches(openStore);
    it.each(ways.map((way) => [way.what, way] as const))("%s", async (_what, way) => {
      const bench = await open(way.workflows);
      for (const node of way.broken ?? []) bench.broken.add(node);
      const run = await bench.runtime.start("flow", { workflowId: "life" });
      await way.end?.(run, bench);
      const failed = await until(run, ended);
      expect(failed.status).not.toBe("completed");
      const before = bench.done.splice(0);
      bench.broken.clear();
      // a definition that makes it fail again at once is refused, and changes nothing
      if (way.options?.definition && way.what !== "the deadline has passed") {
        await expect(run.restart()).rejects.toMatchObject({ code: "FORK_REFUSED", message: expect.stringContaining("again at once") });
        expect((await run.snapshot()).version).toBe(failed.version);
      }
      expect(await run.restart(way.options)).toEqual({ applied: true, reason: "restarted" });
      await way.then?.(run);
      const { status, restarts, error } = await until(run, ended);
      expect([status, error]).toEqual(["completed", undefined]);
      expect(restarts).toBe(1);
      expect(nodesOf(bench.done).sort()).toEqual([...way.performs].sort());
      const again = bench.done.filter((call) => before.includes(call));
      expect(nodesOf(again).sort()).toEqual([...(way.same ?? [])].sort());
      const performedBefore = new Set(nodesOf(before));
      for (const node of way.anew ?? []) {
        expect(performedBefore).toContain(node);
        expect(again.some((call) => call.startsWith(`${node} `))).toBe(false);
      }
      expect((await bench.store.list()).items.map(({ workflowId }) => workflowId)).toEqual(["life"]);
    });
  });
}
