import type { StartedEvent } from "stepfold/core";
import { afterEach, describe, expect, it } from "vitest";
import { directPort } from "../../../test/execution/direct-port.fixture.ts";
import { type History, order, startHistory } from "../../../test/execution/history.fixture.ts";
import { ReplayClient } from "./replay-client.ts";

let history: History;

afterEach(() => history.close());

describe("ReplayClient", () => {
  it("asks the thread that folds, and gets what it knows", async () => {
    history = await startHistory(order, { total: 1 });
    const events = await history.events();
    const { hash } = (events[0] as StartedEvent).definition;
    const replay = new ReplayClient(directPort());
    expect(await replay.state(0)).toBeNull();
    replay.add(events);
    expect(await replay.state(0)).toBeNull();
    replay.define(hash, await history.definition(hash));
    expect(await replay.state(1)).toMatchObject({ version: 1, folded: { status: "active" } });
    expect(await replay.snapshot(events.at(-1)!.version)).toMatchObject({ workflowId: "one", status: "error" });
    replay.reset();
    expect(await replay.snapshot(0)).toBeNull();
  });

  it("answers what is open when it is closed", async () => {
    history = await startHistory(order, { total: 1 });
    const port = directPort();
    const replay = new ReplayClient(port);
    const asked = replay.state(0);
    replay.close();
    expect(await asked).toBeNull();
    expect(port.isClosed()).toBe(true);
  });
});
