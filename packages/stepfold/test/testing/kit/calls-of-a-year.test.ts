import { expect, it } from "vitest";
import type { Event } from "../../../src/core/snapshot/event.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { testRun } from "../../../src/testing/kit/test-run.ts";
import { withoutIdsAndTimes } from "../../../src/testing/kit/without-ids-and-times.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { bank, subscription } from "./subscription.fixture.ts";

const months = 12;
const dayMs = 86_400_000;

function counted(store: SnapshotStore, count: { calls: number }): SnapshotStore {
  return new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        count.calls++;
        return member.apply(target, given);
      };
    },
  });
}

function compared(events: readonly Event[]) {
  return events.map((event) => ({ ...withoutIdsAndTimes(event), day: Math.round((event.at - Date.UTC(2026, 0, 1)) / dayMs) }));
}

/** The virtual environment does not know when code has come to rest. */
async function settled(environment: VirtualEnvironment): Promise<void> {
  for (let i = 0; i < 10; i++) await environment.settle();
}

it("twelve months of a subscription make at most 200 calls of the store, with the result of a worker that polls every second", async () => {
  const count = { calls: 0 };
  await using t = await testRun(subscription, {
    input: { customer: "ada" },
    mocks: { charge: { ok: true } },
    store: (clock) => counted(memoryStore(clock), count),
  });
  for (let month = 0; month < months; month++) await t.advance("30d");
  await t.signal("cancel", { reason: "moved" });
  expect(t.output).toEqual({ ended: "moved" });
  expect(t.calls("charge")).toHaveLength(months + 1);
  expect(count.calls).toBeLessThanOrEqual(200);

  const environment = virtualEnvironment();
  const store = memoryStore({ now: environment.now });
  const { charge } = bank;
  bank.charge = () => ({ ok: true });
  const runtime = createRuntime({ store, workflows: [subscription], environment, pollMs: 1_000 });
  const run = await runtime.start(subscription.id, { workflowId: "test", input: { customer: "ada" } });
  for (let month = 0; month < months; month++) {
    // one second more: that is how late a worker may be that polls
    await environment.advance(30 * dayMs + 1_000);
    await settled(environment);
  }
  await run.signal("cancel", { reason: "moved" });
  await settled(environment);
  bank.charge = charge;
  const { items } = await run.events({ limit: 1_000 });
  await runtime.close();
  expect(compared(t.events)).toEqual(compared(items));
});
