import { describe, expect, it } from "vitest";
import { benches, eventually, type OpenStore } from "../runtime/identity/identity.fixture.ts";

const job = { id: "job", nodes: [{ id: "say", type: "set", data: "{{ input }}" }], edges: [] };
const admin = { ...job, id: "admin" };
const everySecond = { type: "edit", at: 0, changes: { workflow: "admin", cron: "* * * * * *" } };

/** What attacks and audits have found about schedules, on a store with the real clock; each with the number of the report. */
export function scheduleFindings(name: string, openStore: OpenStore): void {
  describe(`${name}: a schedule`, () => {
    const open = benches(openStore);

    it("is edited, broken and flooded by nobody who may send signals (A7)", async () => {
      const { runtime, store } = await open([job, admin]);
      await runtime.schedules.create("nightly", { workflow: "job", cron: "0 2 1 1 *" }, { tenant: "acme" });
      const run = await runtime.get("schedule:nightly");
      const { spec } = await runtime.schedules.describe("nightly");
      for (const payload of [
        everySecond,
        { type: "trigger", at: 8.64e15 + 5 },
        { type: "backfill", at: 0, from: -1e300, to: 1e300, overlap: "allow" },
      ])
        await expect(run.signal("schedule", payload)).rejects.toMatchObject({
          code: "SCHEDULE_DENIED",
          message: expect.stringContaining("runtime.schedules"),
        });
      expect(await runtime.schedules.describe("nightly")).toMatchObject({ spec, generation: 1, status: "active", problems: [] });
      const { workflowId } = await runtime.schedules.trigger("nightly");
      await eventually(async () => (await store.loadHead(workflowId))?.status === "completed");
    });

    it("tells of its last tick, whose id somebody has taken (A10)", async () => {
      const { runtime, store } = await open([job]);
      const at = new Date(Math.ceil(Date.now() / 1_000 + 0.5) * 1_000).toISOString().replace(".000Z", "Z");
      await runtime.start("job", { workflowId: `pay@${at}`, tenant: "evil", input: {} });
      await runtime.schedules.create("pay", { workflow: "job", at });
      await eventually(async () => (await runtime.schedules.describe("pay")).status === "ended");
      expect(await runtime.schedules.describe("pay")).toMatchObject({
        counts: { started: 0 },
        running: [],
        problems: [{ workflowId: `pay@${at}`, code: "START_CONFLICT" }],
      });
      expect((await store.loadHead(`pay@${at}`))?.scheduledBy).toBeUndefined();
    });

    it("starts as many executions as were triggered, also in the same millisecond and from two processes (AUDIT 10, BUGS 12)", async () => {
      const { runtime, elsewhere } = await open([job]);
      const both = [runtime, elsewhere()];
      await runtime.schedules.create("t", { workflow: "job", every: "1d" });
      const one = { idempotencyKey: "click" };
      const told = await Promise.all([
        ...Array.from({ length: 10 }, (_, i) => both[i % 2]!.schedules.trigger("t")),
        ...Array.from({ length: 4 }, (_, i) => both[i % 2]!.schedules.trigger("t", one)),
      ]);
      const ids = new Set(told.map(({ workflowId }) => workflowId));
      expect(ids.size).toBe(11);
      const started = async (): Promise<string[]> => {
        const { items } = await runtime.list({ definitionId: "job", status: ["completed"], limit: 100 });
        return items.map(({ workflowId }) => workflowId);
      };
      await eventually(async () => (await started()).length === 11);
      expect(new Set(await started())).toEqual(ids);
      await eventually(async () => (await runtime.schedules.describe("t")).running.length === 0);
      expect(await runtime.schedules.describe("t")).toMatchObject({ counts: { started: 11 }, problems: [] });
    });

    it("is ended by no burst of commands, and carries out each of them (AUDIT 16, d05)", async () => {
      const { runtime } = await open([job], { limits: { steps: 40 } });
      await runtime.schedules.create("b", { workflow: "job", every: "1d" });
      await Promise.all(
        Array.from({ length: 45 }, (_, i) =>
          i % 2 ? runtime.schedules.trigger("b") : runtime.schedules.edit("b", { input: i }).then(() => undefined),
        ),
      );
      await eventually(async () => (await runtime.schedules.describe("b")).counts.started === 22);
      expect(await runtime.schedules.describe("b")).toMatchObject({ status: "active", generation: 24, problems: [] });
    });

    it("counts no execution that it has not begun (AUDIT 16, m02)", async () => {
      const { runtime } = await open([job]);
      await runtime.schedules.create("c", { workflow: "job", every: "1d" }, { paused: true });
      const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 5)];
      for (const more of [0, 2]) {
        await runtime.schedules.backfill("c", { from, to: to + more * 86_400_000, overlap: "allow" });
        await eventually(async () => (await runtime.list({ definitionId: "job" })).items.length === 5 + more);
        await eventually(async () => (await runtime.schedules.describe("c")).counts.started === 5 + more);
      }
    });
  });
}
