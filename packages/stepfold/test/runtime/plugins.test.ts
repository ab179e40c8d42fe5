import { afterEach, describe, expect, it } from "vitest";
import type { Event } from "../../src/core/snapshot/event.ts";
import { closeAll, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

describe("SUITES 2: a plugin of a runtime", () => {
  it("hears every event that is committed, in order", async () => {
    const told: string[] = [];
    const plugins = [{ onEvent: ({ type, version }: Event) => told.push(`${version} ${type}`) }];
    const { runtime, store, environment } = setUp({ plugins });
    const run = await runtime.start("talk");
    await environment.settle();
    await run.signal("nobody waits for it");
    await run.resume({ payload: { approved: true } });
    await run.result();
    const again = await runtime.start("talk");
    await environment.settle();
    const before = told.length;
    await again.cancel();
    const rows = await store.events(run.workflowId, -1, 100);
    expect(told.slice(0, rows.length)).toEqual(rows.map(({ version, event: { type } }) => `${version} ${type}`));
    expect(rows.map(({ event: { type } }) => type)).toEqual(expect.arrayContaining(["started", "signalled", "resumed"]));
    expect(told.slice(before)).toEqual([expect.stringMatching(/ cancelled$/)]);
  });
});
