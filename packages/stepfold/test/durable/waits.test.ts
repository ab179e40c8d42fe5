import { afterEach, describe, expect, it } from "vitest";
import { defineDurable } from "../../src/durable/define-durable.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import { closeAll, hour, second, setUp } from "../runtime/runtime.fixture.ts";
import { pass, quiet, started, story } from "./durable.fixture.ts";

afterEach(closeAll);

const decision = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } as const;
const day = 24 * hour;

describe("waits of durable code", () => {
  it("end with an answer, with null after their timeout, and cost two events and one rest", async () => {
    const workflow = defineDurable({
      id: "asks",
      waits: { allow: decision },
      async run({ step }) {
        const late = await step.waitFor("allow", { timeout: "1h", payload: { what: "first" } });
        const given = await step.waitFor("allow");
        return { late, given };
      },
    });
    const { run, environment } = await started(workflow);
    const [first] = await run.waits();
    expect(first).toMatchObject({ address: "allow", id: "0.1@2", kind: "external", payload: { what: "first" } });
    await pass(environment, run, hour + 1);
    await expect(run.resume({ step: "allow", payload: { ok: "yes" } })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    await run.resume({ step: "allow", payload: { ok: true } });
    expect(await run.result()).toEqual({ late: null, given: { ok: true } });
    expect(await story(run)).toEqual([
      ...["started", "suspended allow", "suspended asks", "resumed"],
      ...["suspended allow", "suspended asks", "resumed", "completed asks"],
    ]);
  });

  it("take several answers of different people", async () => {
    const workflow = defineDurable({
      id: "votes",
      waits: { vote: decision },
      run: ({ step }) => step.waitFor("vote", { quorum: 2, tally: "ok", responders: ["ada", "bob", "eve"] }),
    });
    const { run } = await started(workflow);
    await run.resume({ step: "vote", by: "ada", payload: { ok: true } });
    await expect(run.resume({ step: "vote", by: "mallory", payload: { ok: true } })).rejects.toMatchObject({ code: "RESPONDER_DENIED" });
    await run.resume({ step: "vote", by: "eve", payload: { ok: true } });
    expect(await run.result()).toMatchObject([
      { by: "ada", payload: { ok: true } },
      { by: "eve", payload: { ok: true } },
    ]);
  });

  it("take a signal that came before, that comes later, and only one with their key", async () => {
    const workflow = defineDurable({
      id: "signals",
      signals: { go: decision, stop: { type: "string" } },
      async run({ step }) {
        await step.sleep("night", "8h");
        const early = await step.signal("go");
        const keyed = await step.signal("go", { key: "b" });
        const late = await step.signal("stop", { timeout: "1h" });
        return { early, keyed, late };
      },
    });
    const { run, environment } = await started(workflow);
    await run.signal("go", { ok: true });
    await pass(environment, run, 8 * hour + 1);
    await run.signal("go", { ok: false }, { key: "a" });
    await expect(run.signal("go", { ok: 1 }, { key: "b" })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    await run.signal("go", { ok: false }, { key: "b" });
    await quiet(environment, run);
    await pass(environment, run, hour + 1);
    expect(await run.result()).toEqual({ early: { ok: true }, keyed: { ok: false }, late: null });
  });

  it("refuse a signal from the inbox that does not fit, and wait on", async () => {
    const workflow = defineDurable({
      id: "fits",
      signals: { go: decision },
      async run({ step }) {
        await step.sleep("night", "1h");
        return step.signal("go");
      },
    });
    const { run, environment } = await started(workflow);
    await run.signal("go", { ok: "no boolean" });
    await pass(environment, run, hour + 1);
    expect((await run.waits())[0]).toMatchObject({ address: "go", refused: { issues: [{ pointer: "/ok" }] } });
    await run.signal("go", { ok: true });
    expect(await run.result()).toEqual({ ok: true });
  });

  it("are answered by a process without the code, one after the other, and the code gets them in that order", async () => {
    const order: string[] = [];
    const workflow = defineDurable({
      id: "both",
      waits: { a: true, b: true },
      async run({ step }) {
        const wait = (name: "a" | "b"): Promise<unknown> =>
          step.waitFor(name).then((value) => order.push(`${name}=${JSON.stringify(value)}`));
        await Promise.all([wait("a"), wait("b")]);
        return order.slice(-2);
      },
    });
    const { environment, store, runtime } = setUp({ workflows: [workflow] });
    const run = await runtime.start(workflow, { workflowId: "one" });
    await quiet(environment, run);
    await runtime.close({ timeoutMs: 1 });
    const other = createRuntime({ store, environment, drive: false });
    const there = await other.get("one");
    await there.resume({ step: "b", payload: 2 });
    await there.resume({ step: "a", payload: 1 });
    expect((await there.snapshot()).activePaths).toMatchObject([{ id: "0", status: "ready" }]);
    const worker = setUp({ store, workflows: [workflow] }, environment);
    await environment.advance(5 * second);
    expect(await (await worker.runtime.get("one")).result()).toEqual(["b=2", "a=1"]);
    await other.close();
  });

  it("have the same winner of a race in every replay, also if the loser ends later", async () => {
    const winners: unknown[] = [];
    const workflow = defineDurable({
      id: "winner",
      waits: { a: true, b: true, end: true },
      async run({ step }) {
        const winner = await Promise.race([step.waitFor("a").then(() => "a"), step.waitFor("b").then(() => "b")]);
        winners.push(winner);
        await step.sleep("pause", "1 day");
        await step.waitFor("end");
        return winner;
      },
    });
    const { run, environment } = await started(workflow);
    await run.resume({ step: "b", payload: 1 });
    await quiet(environment, run);
    await run.resume({ step: "a", payload: 1 });
    await pass(environment, run, day + 1);
    await run.resume({ step: "end", payload: null });
    expect(await run.result()).toBe("b");
    expect(new Set(winners)).toEqual(new Set(["b"]));
    expect(winners.length).toBeGreaterThan(2);
  });

  it("read what they get by their schema in every replay", async () => {
    const upper = (value: unknown): string => {
      if (typeof value !== "string") throw new Error("must be text");
      return value.toUpperCase();
    };
    const workflow = defineDurable({
      id: "reads",
      waits: { name: upper },
      async run({ step }) {
        const name = await step.waitFor("name");
        await step.sleep("pause", "1h");
        return name;
      },
    });
    const { run, environment } = await started(workflow);
    await expect(run.resume({ step: "name", payload: 7 })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    await run.resume({ step: "name", payload: "ada" });
    await quiet(environment, run);
    await pass(environment, run, hour + 1);
    expect(await run.result()).toBe("ADA");
  });
});

describe("code that can only wait", () => {
  it("rests, also after results that came at once", async () => {
    const workflow = defineDurable({
      id: "at-once",
      waits: { answer: true },
      run: ({ step }) => Promise.all([step.waitFor("answer"), step.run("a", () => 1), step.run("b", () => 2)]),
    });
    const { run } = await started(workflow);
    expect([(await run.snapshot()).status, (await story(run)).at(-1)]).toEqual(["paused", "suspended at-once"]);
    await run.resume({ step: "answer", payload: 0 });
    expect(await run.result()).toEqual([0, 1, 2]);
  });

  it("rests after an answer that a schema takes long to read", async () => {
    const reading = Promise.withResolvers<void>();
    const slow = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => reading.promise.then(() => ({ value: value as number })),
      },
    };
    const workflow = defineDurable({
      id: "reads",
      waits: { first: true, second: slow },
      run: ({ step }) => Promise.all([step.waitFor("first"), step.waitFor("second")]),
    });
    const { run, environment } = await started(workflow);
    const answered = run.resume({ step: "second", payload: 2 });
    reading.resolve();
    await answered;
    await quiet(environment, run);
    expect((await run.snapshot()).status).toBe("paused");
  });
});
