import { afterEach, describe, expect, it } from "vitest";
import { type WaitInfo, waits } from "../../../src/core/explain/waits.ts";
import type { Json } from "../../../src/core/values/json.ts";
import { HeldSteps, workflow } from "../../engine/cancelling.fixture.ts";
import { closeAll } from "../runtime.fixture.ts";
import { Situation } from "./situations.fixture.ts";

afterEach(closeAll);

/** The payloads of the open waits, by their addresses. */
const asked = async (situation: Situation): Promise<Record<string, Json | undefined>> =>
  Object.fromEntries(waits(await situation.snapshot()).map(({ address, payload }: WaitInfo) => [address, payload]));

describe("parallel branches that wait", () => {
  it("stay finished when the next one is resumed, each while the others run, and the next step runs (mastra#9288)", async () => {
    const sub = workflow("sub", { prepare: "slow", approve: { type: "ask", data: "{{ input }}" } }, ["prepare>approve"]);
    const part = (input: string) => ({ type: "workflow", data: { workflow: "sub", input } });
    const parallel = workflow(
      "parallel",
      { f: "noop", one: part("a"), two: part("b"), three: part("c"), step3: { type: "gather", join: "all" } },
      ["f>one", "f>two", "f>three", "one>step3", "two>step3", "three>step3"],
      { workflows: { sub } },
    );
    const slow = new HeldSteps();
    const situation = new Situation(parallel, { slow: slow.executor });
    const run = await situation.start();
    for (const [step, input] of [
      ["one", "a"],
      ["two", "b"],
      ["three", "c"],
    ]) {
      expect(await situation.given()).not.toHaveProperty("step3");
      slow.finish(`prepare:${input}`);
      await situation.pass();
      await situation.answer(run, `${step}/approve`, `${input} ok`);
      expect((await situation.given())[step!]).toEqual([`${input} ok`]);
    }
    expect(await situation.given()).toMatchObject({ one: ["a ok"], two: ["b ok"], three: ["c ok"], step3: [["a ok", "b ok", "c ok"]] });
  });

  it("are not complete when only one of them was resumed (mastra#6418)", async () => {
    const situation = new Situation(
      workflow("w", { f: "noop", left: "ask", right: "ask", sum: { type: "gather", join: "all" } }, [
        "f>left",
        "f>right",
        "left>sum",
        "right>sum",
      ]),
    );
    await situation.answer(await situation.start(), "left", 2);
    const run = await situation.restart();
    expect(await run.snapshot()).toMatchObject({
      status: "paused",
      activePaths: [
        { nodeId: "sum", status: "joining" },
        { nodeId: "right", status: "suspended" },
      ],
    });
    expect(situation.times("sum")).toBe(0);
    await situation.answer(run, "right", 3);
    expect(await run.result()).toEqual([2, 3]);
  });

  it("lose no question of a loop when a slow sibling ends during the second round (mastra#10746)", async () => {
    const slow = new HeldSteps();
    const looping = workflow(
      "loop",
      {
        f: "noop",
        extract: "slow",
        question: { type: "ask", data: "question {{ nodes.think.all.length + 1 }}" },
        think: "think",
        more: { type: "if", data: { condition: "{{ nodes.think.all.length < 3 }}" } },
        done: { type: "gather", join: "all" },
      },
      ["f>extract", "f>question", "question>think", "think>more", "more>question@true", "more>done@false", "extract>done"],
    );
    const thinking = new HeldSteps();
    const situation = new Situation(looping, { slow: slow.executor, think: thinking.executor });
    const run = await situation.start();
    for (const round of [1, 2, 3]) {
      expect(await asked(situation)).toEqual({ question: `question ${round}` });
      await situation.answer(run, "question", `answer ${round}`);
      if (round === 2) slow.finish("extract");
      await situation.pass();
      thinking.finish("think", `thought ${round}`);
      await situation.pass();
    }
    expect(await situation.given()).toMatchObject({
      extract: ["extract done"],
      question: ["answer 1", "answer 2", "answer 3"],
      think: ["thought 1", "thought 2", "thought 3"],
    });
    expect((await run.snapshot()).status).toBe("completed");
    expect(situation.times("done")).toBe(1);
  });

  it.each([
    [["a", "b", "c"]],
    [["c", "a", "b"]],
    [["b", "c", "a"]],
  ])("can each be answered, in the order %j, and their answers are merged (mastra#16468)", async (order) => {
    const three = workflow("three", { f: "noop", a: "ask", b: "ask", c: "ask", merge: { type: "gather", join: "all" } }, [
      "f>a",
      "f>b",
      "f>c",
      "a>merge",
      "b>merge",
      "c>merge",
    ]);
    const situation = new Situation(three);
    await situation.start();
    for (const [i, step] of order.entries()) {
      const run = await situation.restart();
      expect(Object.keys(await asked(situation)).sort()).toEqual(order.slice(i).sort());
      await situation.answer(run, step, `for ${step}`);
    }
    expect(await (await situation.elsewhere()).result()).toEqual(["for a", "for b", "for c"]);
    expect(situation.times("merge")).toBe(1);
  });

  it("get the answer that was meant for them after a reload, also with the same tool asking twice (mastra#19083)", async () => {
    const tools = workflow("tools", { f: "noop", mail: { type: "ask", data: "send mail?" }, pay: { type: "ask", data: "pay?" } }, [
      "f>mail",
      "f>pay",
      "f>pay",
    ]);
    const situation = new Situation(tools);
    await situation.start();
    const run = await situation.restart();
    const [mail, ...payments] = waits(await run.snapshot());
    expect([mail, ...payments].map((wait) => [wait?.nodeId, wait?.payload])).toEqual([
      ["mail", "send mail?"],
      ["pay", "pay?"],
      ["pay", "pay?"],
    ]);
    await expect(run.resume({ step: "pay", payload: "which?" })).rejects.toMatchObject({
      code: "RESUME_AMBIGUOUS",
      details: { waits: payments.map(({ id }) => ({ id, nodeId: "pay" })) },
    });
    for (const wait of payments.toReversed()) await run.resume({ waitId: wait.id, payload: `for ${wait.id}` });
    await situation.pass();
    expect(await asked(situation)).toEqual({ mail: "send mail?" });
    const results = (await run.snapshot()).context.pay!.map(({ output, pathId }) => [pathId, output]);
    expect(results.sort()).toEqual(payments.map(({ id }) => [id.split("@")[0], `for ${id}`]));
  });

  it("are not asked again once they were answered, when a sibling asks a second thing (langgraph#5952)", async () => {
    const situation = new Situation(workflow("w", { f: "noop", once: "ask", twice: "form" }, ["f>once", "f>twice"]), {
      form: (_data, { resumed, suspend }) => {
        if (!resumed) return suspend("first");
        return resumed.suspendPayload === "first" ? suspend("second") : { data: resumed.payload ?? null };
      },
    });
    const run = await situation.start();
    await situation.answer(run, "once", "yes");
    await situation.answer(run, "twice", 1);
    expect(await asked(situation)).toEqual({ twice: "second" });
    await situation.answer(await situation.restart(), "twice", 2);
    expect(situation.ran).toEqual(["f", "once", "twice", "once resumed", "twice resumed", "twice resumed"]);
    expect(await situation.given()).toMatchObject({ once: ["yes"], twice: [2] });
  });

  it("all show what they ask at once, and are answered without being asked again (langgraph#4028)", async () => {
    const child = workflow("child", { human: { type: "ask", data: "{{ input }}" } });
    const situation = new Situation(
      workflow("w", { each: { type: "map", data: { workflow: "child", items: ["a", "b"] } }, cleanup: "noop" }, ["each>cleanup"], {
        workflows: { child },
      }),
    );
    const run = await situation.start();
    expect(await asked(situation)).toEqual({ "each[0]/human": "a", "each[1]/human": "b" });
    await Promise.all(["each[0]/human", "each[1]/human"].map((step) => run.resume({ step, payload: `answer to ${step}` })));
    await situation.pass();
    expect(situation.ran).toEqual(["each", "human", "human", "human resumed", "human resumed", "cleanup"]);
    expect((await situation.given()).each).toEqual([["answer to each[0]/human", "answer to each[1]/human"]]);
  });
});

describe("a map whose items wait", () => {
  const item = workflow("item", { approve: { type: "ask", data: { for: "{{ input }}", state: { tokens: 7 } } } });
  const mapOf = (items: Json, more: object = {}) =>
    workflow("mapped", { each: { type: "map", data: { workflow: "item", items, ...more } } }, [], { workflows: { item } });
  const names = ["alpha", "beta", "gamma"];

  it("answers none of them when nobody says which is meant, and lists them (mastra#18961)", async () => {
    const situation = new Situation(mapOf(names));
    const run = await situation.start();
    const before = await situation.snapshot();
    const open = waits(before).map(({ id, address }) => ({ id, nodeId: address }));
    expect(open.map(({ nodeId }) => nodeId)).toEqual(["each[0]/approve", "each[1]/approve", "each[2]/approve"]);
    await expect(run.resume({ payload: true })).rejects.toMatchObject({ code: "RESUME_AMBIGUOUS", details: { waits: open } });
    expect(await situation.snapshot()).toEqual(before);
    expect(situation.times("approve resumed")).toBe(0);
  });

  it("keeps what the others asked with when one is answered (mastra#15552)", async () => {
    const situation = new Situation(mapOf(names));
    await situation.answer(await situation.start(), "each[1]/approve", true);
    await situation.restart();
    const state = { tokens: 7 };
    expect(await asked(situation)).toEqual({
      "each[0]/approve": { for: "alpha", state },
      "each[2]/approve": { for: "gamma", state },
    });
  });

  it("drops no item and keeps its concurrency when all are answered together and ask again (mastra#24581)", async () => {
    let atOnce = 0;
    let most = 0;
    const worker = workflow("item", { talk: "talk" });
    const talking = workflow(
      "mapped",
      { each: { type: "map", data: { workflow: "item", items: ["a", "b", "c", "d", "e"], concurrency: 2 } } },
      [],
      {
        workflows: { item: worker },
      },
    );
    const situation = new Situation(talking, {
      talk: async (_data, step) => {
        most = Math.max(most, ++atOnce);
        await Promise.resolve();
        atOnce--;
        const round = (step.resumed?.suspendPayload as number | undefined) ?? 0;
        return round < 2 ? step.suspend(round + 1) : { data: `${step.input} done` };
      },
    });
    await situation.start();
    for (const round of [1, 2]) {
      const run = await situation.restart();
      expect(Object.values(await asked(situation))).toEqual([round, round, round, round, round]);
      await Promise.all([0, 1, 2, 3, 4].map((i) => run.resume({ step: `each[${i}]/talk`, payload: round })));
      await situation.pass();
    }
    expect(await (await situation.elsewhere()).result()).toEqual(["a done", "b done", "c done", "d done", "e done"]);
    expect(most).toBe(2);
  });

  it("takes answers for several items in any order, each its own (mastra#8902)", async () => {
    const situation = new Situation(mapOf(names));
    await situation.start();
    for (const i of [2, 0, 1]) {
      const run = await situation.restart();
      await run.resume({ step: "each", item: i, payload: `${names[i]} ok` });
      await situation.pass();
    }
    expect(await (await situation.elsewhere()).result()).toEqual(["alpha ok", "beta ok", "gamma ok"]);
    expect(situation.times("approve resumed")).toBe(3);
  });
});
