import { describe, expect, it } from "vitest";
import { answerLinks } from "../../../src/webhooks/index.ts";
import { act, benches, codeOf, edges, ended, eventually, nodesOf, type OpenStore, until } from "./identity.fixture.ts";

const again = (input: unknown = {}): object => ({ id: "again", type: "end", data: { continueAs: { input } } });
/** Goes on once, after 2 ended runs it completes. */
const once = {
  id: "once",
  nodes: [{ id: "m", type: "if", data: { condition: "{{ input.n != 2 }}" } }, again({ n: 2 })],
  edges: edges("m>again@true"),
};
/** Goes on without a pause, for ever. */
const endless = { id: "endless", nodes: [act("a"), again(1)], edges: edges("a>again") };
/** Goes on with each signal `tick`. */
const ticking = {
  id: "ticking",
  nodes: [{ id: "w", type: "signal", data: { name: "tick", key: "k" } }, act("a"), again({ n: "{{ (input.n ?? 0) + 1 }}" })],
  edges: edges("w>a", "a>again"),
};
const call = (workflow: string, more: object = {}): object => ({ id: "k", type: "workflow", data: { workflow, detached: true }, ...more });
const parents = [
  { id: "waiting", nodes: [call("endless")], edges: [] },
  { id: "hasty", nodes: [call("endless", { timeout: "300ms" })], edges: [] },
  { id: "limited", timeout: "300ms", nodes: [call("endless")], edges: [] },
];
const keyed = {
  id: "keyed",
  input: { type: "object", properties: { n: { type: "number" } } },
  concurrency: { key: "{{ input.k }}", limit: 1 },
  nodes: [{ id: "m", type: "if", data: { condition: "{{ input.n == 1 }}" } }, again({ n: 2 })],
  edges: edges("m>again@true"),
};
const picky = { ...keyed, id: "picky", nodes: [keyed.nodes[0]!, again({ n: "two" })] };
const job = { id: "job", nodes: [act("j"), { id: "q", type: "approval" }], edges: edges("j>q") };
const asking = { id: "asking", nodes: [{ id: "q", type: "approval" }, act("z")], edges: edges("q>z@approved") };

/** What was found where an execution went on under another id, each with the number of the report that told of it. */
export function findings(name: string, openStore: OpenStore): void {
  describe(`${name}: an execution keeps its id`, () => {
    const open = benches(openStore);

    it("so a schedule whose executions go on does not stand still (AUDIT 1)", async () => {
      const { runtime } = await open([once]);
      await runtime.schedules.create("s", { workflow: "once", every: "1s", input: { n: 1 } });
      await eventually(async () => (await runtime.schedules.describe("s")).counts.started >= 2);
      expect(await runtime.schedules.describe("s")).toMatchObject({ counts: { skipped: 0 }, problems: [] });
    });

    it.each(["cancel", "timeout", "deadline", "own cancel"])("so a loop without a pause can be ended: %s (AUDIT 2, 14)", async (way) => {
      const { runtime, store, elsewhere } = await open([endless, ...parents]);
      const workflow = { cancel: "waiting", timeout: "hasty", deadline: "limited", "own cancel": "endless" }[way]!;
      const run = await runtime.start(workflow, { workflowId: "p" });
      const running = async (): Promise<number> =>
        (await store.list({ definitionId: "endless", status: ["active", "paused", "error", "parked"] })).items.length;
      await eventually(async () => (await running()) > 0);
      const other = await elsewhere({ drive: false }).get("p");
      if (way.includes("cancel")) await other.cancel();
      await until(run, ended);
      await eventually(async () => (await running()) === 0);
      expect((await store.list({ definitionId: "endless" })).items).toHaveLength(1);
    });

    it("so nobody can take, or have taken, the id under which it would go on (AUDIT 3, 4, ATTACK A6)", async () => {
      const { runtime, store, problems } = await open([once, ticking]);
      await runtime.start("ticking", { workflowId: "o~2" });
      const kept = await runtime.start("ticking", { workflowId: "p~2" });
      await kept.cancel();
      await until(kept, ended);
      await store.delete("p~2");
      for (const workflowId of ["o", "p"]) {
        const run = await runtime.start("once", { workflowId, input: { n: 1 } });
        await run.result();
        expect(await run.snapshot()).toMatchObject({ status: "completed", run: { number: 2 } });
      }
      expect(problems).toEqual([]);
    });

    it("so a refused next run fails the step, and what only a start needs is not asked again (AUDIT 4)", async () => {
      const { runtime } = await open([keyed, picky]);
      const run = await runtime.start("keyed", { input: { n: 1, k: "a" } });
      await run.result();
      expect(await run.snapshot()).toMatchObject({ status: "completed", run: { number: 2 }, permit: { limit: 1 } });
      const refused = await runtime.start("picky", { workflowId: "r", input: { n: 1, k: "a" } });
      expect(await codeOf(refused.result())).toBe("EXECUTION_FAILED");
      expect(await refused.snapshot()).toMatchObject({ status: "failed", error: { code: "INPUT_INVALID" } });
    });

    it("so retention never cuts it off from those who know the id (AUDIT 5, BUGS 3)", async () => {
      const { runtime, store } = await open([ticking]);
      const run = await runtime.start("ticking", { workflowId: "sub", input: {} });
      for (let n = 1; n <= 3; n++) {
        await run.signal("tick", null, { key: "k" });
        await until(run, ({ status, run: present }) => status === "paused" && present?.number === n + 1);
        await runtime.prune({ before: Date.now() + 60_000 });
      }
      expect(await (await runtime.get("sub")).signal("tick", null, { key: "k" })).toEqual({ applied: true });
      await until(run, ({ status, run: present }) => status === "paused" && present?.number === 5);
      expect((await runtime.start("ticking", { workflowId: "sub", input: {} })).workflowId).toBe("sub");
      expect((await store.list()).items).toHaveLength(1);
    });

    it("so the name of a deleted schedule can be used again at once (AUDIT 6)", async () => {
      const { runtime, store } = await open([once]);
      for (let times = 0; times < 3; times++) {
        await runtime.schedules.create("s", { workflow: "once", every: "1h" });
        expect(await runtime.schedules.describe("s")).toMatchObject({ status: "active", workflowId: "schedule:s" });
        await runtime.schedules.delete("s");
        await eventually(async () => (await runtime.schedules.describe("s")).status === "ended");
        if (times === 1) await store.delete("schedule:s");
      }
      const both = await Promise.all([1, 2].map(() => runtime.schedules.put("s", { workflow: "once", every: "2h" })));
      expect(both.map(({ status }) => status)).toEqual(["active", "active"]);
      expect((await runtime.schedules.list()).items).toHaveLength(1);
    });

    it("so it can be restarted any number of times (AUDIT 7)", async () => {
      const { runtime, broken, done } = await open([job]);
      broken.add("j");
      const run = await runtime.start("job", { workflowId: "j" });
      for (let restarts = 1; restarts <= 4; restarts++) {
        await until(run, (snapshot) => snapshot.status === "failed" && (snapshot.restarts ?? 0) === restarts - 1);
        if (restarts === 4) broken.clear();
        expect(await run.restart()).toEqual({ applied: true, reason: "restarted" });
      }
      await until(run, ({ status }) => status === "paused");
      expect(new Set(done).size).toBe(1);
      expect(done).toHaveLength(5);
    });

    it("so keys of signals count over runs, restarts and forks (AUDIT 9)", async () => {
      const { runtime, done } = await open([ticking]);
      const run = await runtime.start("ticking", { workflowId: "t", input: {} });
      await until(run, ({ status }) => status === "paused");
      expect(await runtime.broadcast("tick", null, { key: "k", idempotencyKey: "b" })).toMatchObject({ reached: ["t"] });
      await until(run, ({ status, run: present }) => status === "paused" && present?.number === 2);
      await runtime.broadcast("tick", null, { key: "k", idempotencyKey: "b" });
      expect(await run.signal("kept", 1, { idempotencyKey: "g" })).toEqual({ applied: true });
      const fork = await run.fork();
      await run.cancel();
      await run.restart();
      for (const each of [run, fork]) {
        expect(await each.signal("kept", 1, { idempotencyKey: "g" })).toEqual({ applied: false });
        expect((await each.snapshot()).inbox).toHaveLength(1);
      }
      expect(nodesOf(done)).toEqual(["a"]);
    });

    it("so a schedule knows that an execution of a tick was restarted, and starts none beside it (AUDIT 12)", async () => {
      const { runtime, broken } = await open([job]);
      broken.add("j");
      await runtime.schedules.create("s", { workflow: "job", every: "1s", overlap: "skip", count: 60 });
      const first = async (): Promise<string | undefined> =>
        (await runtime.list({ definitionId: "job", status: ["failed"] })).items[0]?.workflowId;
      await eventually(async () => (await first()) !== undefined);
      broken.clear();
      const tick = await runtime.get((await first())!);
      await tick.restart();
      const running = async (): Promise<readonly string[]> => (await runtime.schedules.describe("s")).running;
      await eventually(async () => (await running()).includes(tick.workflowId));
      await runtime.schedules.delete("s");
    });

    it("so a link in a mail works again after a restart, and a parent that has gone on does not go back (BUGS 3)", async () => {
      const { runtime } = await open([asking]);
      const run = await runtime.start("asking", { workflowId: "a" });
      const { id: waitId } = await run.waitFor({ step: "q" });
      const links = answerLinks(runtime, { keys: [{ id: "k", secret: new Uint8Array(32).fill(7) }] });
      const token = await links.create({ workflowId: "a", waitId });
      await run.cancel();
      await until(run, ended);
      expect(await codeOf(links.answer(token, { approved: true }))).toBe("LINK_INVALID");
      await run.restart();
      expect(await links.answer(token, { approved: true })).toEqual({ applied: true });
      expect(await run.result()).toBe("z");
    });
  });
}
