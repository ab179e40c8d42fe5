import { memoryStore } from "stepfold/stores/memory";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Cleanup, cleanup } from "../src/cleanup.ts";
import { follow } from "../src/session/follow.ts";
import { openSession, type Session } from "../src/session/session.ts";
import { chooseDatabase, type Store } from "../src/store/database.ts";
import { flow } from "./flow.fixture.ts";

const hour = 3_600_000;
let closing: Cleanup;
beforeEach(() => {
  closing = cleanup();
});
afterEach(() => closing.run());

/** Opens a session for the execution "one" on a database whose clock is so many milliseconds ahead. */
async function sessionOn(aheadMs: number): Promise<{ readonly session: Session; readonly store: Store }> {
  const store = memoryStore({ now: () => Date.now() + aheadMs }) as unknown as Store;
  const parts = { workflowId: "one", store, database: chooseDatabase("unused.db"), config: {}, configPath: null, cleanup: closing };
  return { session: await openSession(parts), store };
}

it.each([
  hour,
  -hour,
])("a command waits for a timer that is due soon by the clock of the database, which is %i ms ahead", async (aheadMs) => {
  const { session } = await sessionOn(aheadMs);
  const nodes = { f: "noop", nap: ["wait", { for: "300ms" }], ask: ["approval", {}] } as const;
  const run = await session.runtime.start(flow("w", nodes, ["f>nap", "f>ask"]) as never, { workflowId: "one" });
  session.begin();
  const progress = { begin: vi.fn(), event: vi.fn(), note: vi.fn(), end: vi.fn(), close: vi.fn() };
  const interruption = { asked: new Promise<never>(() => undefined), beforeTelling: () => undefined, stopListening: () => undefined };
  const { snapshot, interrupted } = await follow(run, -1, session, progress, interruption);
  expect(interrupted).toBeNull();
  expect(snapshot).toMatchObject({ status: "paused", activePaths: [{ nodeId: "ask" }] });
});
