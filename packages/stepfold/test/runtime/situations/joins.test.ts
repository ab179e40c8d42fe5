import { afterEach, describe, expect, it } from "vitest";
import { HeldSteps, workflow } from "../../engine/cancelling.fixture.ts";
import { closeAll, hour } from "../runtime.fixture.ts";
import { Situation } from "./situations.fixture.ts";

afterEach(closeAll);

const merge = { type: "gather", join: "all" } as const;
const value = (data: string) => ({ type: "set", data });
const when = (condition: string) => ({ type: "if", data: { condition } });

describe("a merge of branches", () => {
  it("of three inputs does not go on with two (n8n#33819)", async () => {
    const slow = new HeldSteps();
    const situation = new Situation(
      workflow("w", { f: "noop", a: value("a"), b: "slow", c: value("c"), merge, after: "noop" }, [
        "f>a",
        "f>b",
        "f>c",
        "a>merge",
        "b>merge",
        "c>merge",
        "merge>after",
      ]),
      { slow: slow.executor },
    );
    const run = await situation.start();
    await situation.pass(10 * 60_000 - 1_000);
    expect(situation.ran).toEqual(["f", "a", "b", "c"]);
    slow.finish("b", "b");
    await situation.pass();
    expect(await situation.given()).toMatchObject({ merge: [["a", "b", "c"]] });
    expect((await run.snapshot()).status).toBe("completed");
  });

  it.each([
    ["as drawn", ["a>both", "b>both"]],
    ["with its inputs swapped", ["b>both", "a>both"]],
  ])("that needs both does not run when one branch gave nothing to it, %s (n8n#3949)", async (_, inputs) => {
    const both = { type: "gather", join: 2 };
    const edges = ["f>a", "f>check", "check>b@true", "check>elsewhere@false", ...inputs, "both>tooFew@error"];
    const nodes = {
      f: "noop",
      a: value("a"),
      check: when("{{ input }}"),
      b: value("b"),
      elsewhere: "noop",
      both,
      tooFew: value("not both"),
    };
    const situation = new Situation(workflow("w", nodes, edges));
    const run = await situation.start(false);
    expect(situation.times("both")).toBe(0);
    expect(await situation.given()).toMatchObject({ tooFew: ["not both"] });
    expect((await run.snapshot()).status).toBe("completed");
    const whole = new Situation(workflow("w", nodes, edges));
    expect((await (await whole.start(true)).result()) as string[]).toEqual(inputs.map((edge) => edge[0]));
  });

  it.each([true, false])("does not hang when a branch did not run: condition %s (n8n#17529)", async (condition) => {
    const situation = new Situation(
      workflow("w", { check: when("{{ input }}"), yes: value("yes"), no: value("no"), merge, after: "noop" }, [
        "check>yes@true",
        "check>no@false",
        "yes>merge",
        "no>merge",
        "merge>after",
      ]),
    );
    const run = await situation.start(condition);
    expect((await run.snapshot()).status).toBe("completed");
    expect((await situation.given()).merge).toEqual([[condition ? "yes" : "no"]]);
  });

  it("does not hang when a branch that waited is cancelled instead (n8n#17529)", async () => {
    const situation = new Situation(workflow("w", { f: "noop", a: value("a"), b: "ask", merge }, ["f>a", "f>b", "a>merge", "b>merge"]));
    await situation.start();
    const run = await situation.restart();
    await run.cancel({ step: "b" });
    await situation.pass();
    expect(await run.result()).toEqual(["a"]);
  });

  it.each([
    [{ first: true, second: true }, ["set6", "merge2", "end"]],
    [{ first: false, second: true }, ["if2", "set1", "merge1", "merge2", "end"]],
    [{ first: false, second: false }, ["if2", "set2", "merge1", "merge2", "end"]],
  ])("inside another one runs only what is on the way taken: %j (n8n#3029)", async (input, way) => {
    const nested = workflow(
      "w",
      {
        if1: when("{{ input.first }}"),
        if2: when("{{ input.second }}"),
        set1: "noop",
        set2: "noop",
        set6: "noop",
        merge1: merge,
        merge2: merge,
        end: "noop",
      },
      [
        "if1>set6@true",
        "if1>if2@false",
        "if2>set1@true",
        "if2>set2@false",
        "set1>merge1",
        "set2>merge1",
        "merge1>merge2",
        "set6>merge2",
        "merge2>end",
      ],
    );
    const situation = new Situation(nested);
    await situation.start(input);
    expect(situation.ran).toEqual(["if1", ...way]);
  });

  it("in a loop merges what belongs to one round, round by round (n8n#13620)", async () => {
    const slow = new HeldSteps();
    const looping = workflow(
      "w",
      {
        next: value("{{ nodes.next.all.length + 1 }}"),
        quick: value("quick {{ nodes.next.last.data }}"),
        slow: "slow",
        merge,
        more: when("{{ nodes.merge.all.length < 3 }}"),
        end: "noop",
      },
      ["next>quick", "next>slow", "quick>merge", "slow>merge", "merge>more", "more>next@true", "more>end@false"],
      { start: "next" },
    );
    const situation = new Situation(looping, { slow: slow.executor });
    const run = await situation.start();
    for (const round of [1, 2, 3]) {
      expect(situation.times("merge")).toBe(round - 1);
      slow.finish("slow", `slow ${round}`);
      await situation.pass();
    }
    expect((await situation.given()).merge).toEqual([1, 2, 3].map((round) => [`quick ${round}`, `slow ${round}`]));
    expect((await run.snapshot()).status).toBe("completed");
  });

  it("waits for the one of five that is slow or stuck for a while, instead of taking null for it (dify#17377)", async () => {
    const slow = new HeldSteps();
    const five = ["a", "b", "c", "d", "e"];
    const final = { type: "set", data: "{{ [nodes.blue1.last.data.length, nodes.blue2.last.data.length] }}", join: "all" } as const;
    const red = Object.fromEntries(five.map((id) => [id, { type: "slow", timeout: "3h" }]));
    const situation = new Situation(
      workflow(
        "w",
        { f: "noop", ...red, blue1: merge, blue2: merge, final },
        five.flatMap((id) => [`f>${id}`, `${id}>blue1`, `${id}>blue2`]).concat("blue1>final", "blue2>final"),
      ),
      { slow: slow.executor },
    );
    const run = await situation.start();
    for (const id of ["e", "a", "b", "d"]) slow.finish(id, id);
    await situation.pass(2 * hour);
    expect([situation.times("blue1"), situation.times("blue2"), situation.times("final")]).toEqual([0, 0, 0]);
    slow.finish("c", "c");
    await situation.pass();
    expect(await situation.given()).toMatchObject({ blue1: [five], blue2: [five], final: [[5, 5]] });
    expect(await run.result()).toEqual([5, 5]);
  });

  it.each([
    [{ left: true, right: true }, ["x", "u"]],
    [{ left: false, right: true }, ["y", "u"]],
    [{ left: false, right: false }, ["y", "v"]],
  ])("after branches that choose their ways runs once, neither early nor twice: %j (dify#14308)", async (input, ways) => {
    const slow = new HeldSteps();
    const choosing = workflow(
      "w",
      {
        f: "noop",
        left: when("{{ input.left }}"),
        right: when("{{ input.right }}"),
        x: value("x"),
        y: value("y"),
        u: "slow",
        v: "slow",
        join: merge,
        after: "noop",
      },
      [
        "f>left",
        "f>right",
        "left>x@true",
        "left>y@false",
        "right>u@true",
        "right>v@false",
        "x>join",
        "y>join",
        "u>join",
        "v>join",
        "join>after",
      ],
    );
    const situation = new Situation(choosing, { slow: slow.executor });
    await situation.start(input);
    expect(situation.times("join")).toBe(0);
    slow.finish(ways[1]!, ways[1]!);
    await situation.pass();
    expect((await situation.given()).join).toEqual([ways]);
    expect([situation.times("join"), situation.times("after")]).toEqual([1, 1]);
  });
});
