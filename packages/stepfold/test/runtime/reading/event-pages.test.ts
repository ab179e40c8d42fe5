import { afterEach, describe, expect, it } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { EventPage, EventsQuery, Run } from "../../../src/runtime/handle/run.ts";
import { closeAll, hour, nodeDefinitions, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const versionsOf = ({ items }: EventPage): number[] => items.map(({ version }) => version);

/** Reads all pages in one direction. */
async function pages(run: Run, first: EventsQuery, direction: "after" | "before"): Promise<number[][]> {
  const read: number[][] = [];
  for (let query = first; ; ) {
    const page = await run.events(query);
    read.push(versionsOf(page));
    if (page.next === null) return read;
    query = { limit: first.limit, [direction]: page.next };
  }
}

describe("run.events", () => {
  it("gives the history in pages, forwards and backwards, each event once", async () => {
    const { runtime } = setUp();
    const run = await runtime.start("talk");
    await run.settled();
    for (let change = 0; change < 7; change++) await run.setMetadata({ change });
    const { version } = await run.snapshot();
    const all = Array.from({ length: version + 1 }, (_, at) => at);
    expect(versionsOf(await run.events())).toEqual(all);
    for (const limit of [1, 2, 3, version, version + 1, version + 2, 1_000]) {
      const forwards = await pages(run, { limit }, "after");
      expect(forwards.flat()).toEqual(all);
      const backwards = await pages(run, { limit, before: Number.MAX_SAFE_INTEGER }, "before");
      expect(backwards.reverse().flat()).toEqual(all);
      for (const page of [...forwards, ...backwards]) expect(page.length).toBeLessThanOrEqual(limit);
    }
    expect(versionsOf(await run.events({ after: 2, limit: 2 }))).toEqual([3, 4]);
    expect(versionsOf(await run.events({ before: 4, limit: 2 }))).toEqual([2, 3]);
    expect(await run.events({ after: version })).toEqual({ items: [], next: null });
    expect(await run.events({ before: 0 })).toEqual({ items: [], next: null });
  });

  it("goes on over events of earlier runs that were trimmed", async () => {
    const again = { id: "again", type: "end", data: { continueAs: { input: { n: "{{ input.n + 1 }}" } } } };
    const edges = [
      { source: "say", target: "more" },
      { source: "more", target: "again", sourceHandle: "true" },
      { source: "more", target: "ask", sourceHandle: "false" },
    ];
    const nodes = [
      { id: "say", type: "say" },
      { id: "more", type: "if", data: { condition: "{{ input.n < 3 }}" } },
      again,
      { id: "ask", type: "ask" },
    ];
    const { runtime, store, environment } = setUp({
      workflows: [{ id: "loop", nodes, edges }],
      nodeDefinitions: { ...builtinNodes, ...nodeDefinitions },
    });
    const run = await runtime.start("loop", { input: { n: 0 } });
    const { run: present, version } = await run.settled();
    await store.trim({ before: environment.now() + hour, limit: 10 });
    const left = [0, ...Array.from({ length: version - present!.since + 1 }, (_, at) => present!.since + at)];
    for (const limit of [1, 2, left.length, 1_000]) {
      expect((await pages(run, { limit }, "after")).flat()).toEqual(left);
      expect((await pages(run, { limit, before: version + 1 }, "before")).reverse().flat()).toEqual(left);
    }
  });

  it.each([
    [{ after: -2 }, "after"],
    [{ before: 0.5 }, "before"],
    [{ limit: 0 }, "limit"],
    [{ limit: 1_001 }, "limit"],
    [{ after: 1, before: 2 }, "before"],
  ])("refuses %j", async (query, option) => {
    const { runtime } = setUp();
    const run = await runtime.start("talk");
    await expect(run.events(query)).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option } });
    const misspelt: object = { ...query, wrong: 1 };
    await expect(run.events(misspelt)).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
  });

  it("refuses an execution that was deleted", async () => {
    const { runtime, store } = setUp();
    const run = await runtime.start("talk");
    await run.settled();
    await run.cancel();
    await run.settled();
    await store.delete(run.workflowId);
    for (const query of [{}, { after: 3 }, { before: 3 }])
      await expect(run.events(query)).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  });
});
