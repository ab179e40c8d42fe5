import { describe, expect, it } from "vitest";
import { explore } from "./explore.ts";
import { accepts, type Net, Oracle, type Transition } from "./petri-net.ts";
import { parseTrace, reorderings } from "./trace.ts";

function net(initial: string[], transitions: Transition[], final: Net["final"] = { completed: [[]] }): Net {
  return { initial, transitions, final };
}

const line = net(
  ["p"],
  [
    { label: "-a", in: ["p"], out: ["q"] },
    { label: "-b", in: ["q"] },
  ],
);

describe("a net", () => {
  it("accepts its labels in order, up to a last label", () => {
    expect(accepts(line, ["-a", "-b", "completed"])).toBe(true);
  });

  it.each([
    ["another order", ["-b", "-a", "completed"]],
    ["a label too many", ["-a", "-a", "-b", "completed"]],
    ["an end too early", ["-a", "completed"]],
    ["another end", ["-a", "-b", "failed"]],
    ["no end", ["-a", "-b"]],
    ["nothing at all", []],
    ["anything after the end", ["-a", "-b", "completed", "completed"]],
    ["a label that it does not have", ["-c", "-a", "-b", "completed"]],
  ])("rejects %s", (_, labels) => expect(accepts(line, labels)).toBe(false));

  it("takes as many tokens as a place is named times", () => {
    const pair = net(
      ["p"],
      [
        { label: "-a", in: ["p"], out: ["q", "q", "q"] },
        { label: "-b", in: ["q", "q"] },
        { label: "-c", in: ["q"] },
      ],
    );
    expect(accepts(pair, ["-a", "-b", "-c", "completed"])).toBe(true);
    expect(accepts(pair, ["-a", "-b", "-b", "completed"])).toBe(false);
  });

  it("ends differently in different markings", () => {
    const either = net(["p"], [{ label: "-a", in: ["p"] }], { completed: [[]], paused: [["p"]] });
    expect(accepts(either, ["paused"])).toBe(true);
    expect(accepts(either, ["completed"])).toBe(false);
    expect(accepts(either, ["-a", "paused"])).toBe(false);
  });

  it("empties a place by a reset arc, before it fills it", () => {
    const cancel = net(
      ["p", "p", "q"],
      [
        { label: "-k", in: ["q"], reset: ["p"], out: ["p"] },
        { label: "-p", in: ["p"] },
      ],
    );
    expect(accepts(cancel, ["-p", "-k", "-p", "completed"])).toBe(true);
    expect(accepts(cancel, ["-k", "-p", "completed"])).toBe(true);
    expect(accepts(cancel, ["-k", "-p", "-p", "completed"])).toBe(false);
  });

  it("holds a transition back by an inhibitor arc", () => {
    const after = net(
      ["p", "q"],
      [
        { label: "-p", in: ["p"] },
        { label: "-q", in: ["q"], inhibit: ["p"] },
      ],
    );
    expect(accepts(after, ["-p", "-q", "completed"])).toBe(true);
    expect(accepts(after, ["-q", "-p", "completed"])).toBe(false);
  });
});

describe("what nobody sees", () => {
  const choice = net(
    ["p"],
    [
      { in: ["p"], out: ["left"] },
      { in: ["p"], out: ["right"] },
      { label: "-a", in: ["left"], out: ["b"] },
      { label: "-a", in: ["right"], out: ["c"] },
      { label: "-b", in: ["b"] },
      { label: "-c", in: ["c"] },
    ],
  );

  it("may have happened or not, until a label tells", () => {
    expect(accepts(choice, ["-a", "-b", "completed"])).toBe(true);
    expect(accepts(choice, ["-a", "-c", "completed"])).toBe(true);
    expect(accepts(choice, ["-a", "-b", "-c", "completed"])).toBe(false);
  });

  it("may happen any number of times, in a circle too", () => {
    const circle = net(
      ["p"],
      [
        { in: ["p"], out: ["q"] },
        { in: ["q"], out: ["p"] },
        { label: "-a", in: ["p"] },
      ],
    );
    expect(accepts(circle, ["-a", "completed"])).toBe(true);
  });

  it("is an error where it makes tokens without end", () => {
    const spring = net(["p"], [{ in: ["p"], out: ["p", "q"] }]);
    expect(() => new Oracle(spring).start()).toThrow(new RangeError("More than 10000 markings: the net is not bounded"));
    expect(() => new Oracle(spring, 5).start()).toThrow("More than 5 markings");
  });
});

describe("what is immediate", () => {
  const prompt = net(
    ["p", "q"],
    [
      { label: "-p", in: ["p"], out: ["r"] },
      { label: "+r", in: ["r"] },
      { label: "-q", in: ["q"] },
    ],
  );

  it("comes before anything else: a label + follows at once", () => {
    expect(accepts(prompt, ["-p", "+r", "-q", "completed"])).toBe(true);
    expect(accepts(prompt, ["-p", "-q", "+r", "completed"])).toBe(false);
  });

  it("comes before the end", () => {
    const end = net(["p"], [{ label: "+p", in: ["p"], out: ["p"] }], { completed: [["p"]] });
    expect(accepts(end, ["completed"])).toBe(false);
  });

  it("can be said of any transition, and taken from a +", () => {
    const [give, start, other] = prompt.transitions;
    expect(accepts(net(["p", "q"], [give!, { ...start!, immediate: false }, other!]), ["-p", "-q", "+r", "completed"])).toBe(true);
    expect(accepts(net(["p", "q"], [give!, start!, { ...other!, immediate: true }]), ["-p", "+r", "-q", "completed"])).toBe(false);
  });
});

describe("an oracle", () => {
  it("goes back to earlier states, which stay as they were", () => {
    const oracle = new Oracle(line);
    const before = oracle.start();
    const after = oracle.step(before, "-a");
    expect(oracle.next(before)).toEqual(["-a"]);
    expect(oracle.next(after)).toEqual(["-b"]);
    expect(oracle.step(before, "-a").key).toBe(after.key);
  });

  it("has one key for the same states, however they were reached", () => {
    const oracle = new Oracle(
      net(
        ["p", "q"],
        [
          { label: "-p", in: ["p"] },
          { label: "-q", in: ["q"] },
          { in: ["q"], out: ["q"] },
        ],
      ),
    );
    const ways = [
      ["-p", "-q"],
      ["-q", "-p"],
    ].map((labels) => labels.reduce((states, label) => oracle.step(states, label), oracle.start()));
    expect(ways[0]!.key).toBe(ways[1]!.key);
    expect(ways[0]!.key).not.toBe(oracle.start().key);
  });

  it("stays forbidden, and tells a wrong label from an end", () => {
    const oracle = new Oracle(line);
    const wrong = oracle.step(oracle.start(), "-b");
    const end = ["-a", "-b", "completed"].reduce((states, label) => oracle.step(states, label), oracle.start());
    expect([wrong.forbidden, oracle.step(wrong, "-a").forbidden, end.forbidden]).toEqual([true, true, false]);
    expect([oracle.next(wrong), oracle.next(end)]).toEqual([[], []]);
  });

  it("tells which ends may come", () => {
    const oracle = new Oracle(line);
    const last = ["-a", "-b"].reduce((states, label) => oracle.step(states, label), oracle.start());
    expect(oracle.next(last)).toEqual(["completed"]);
  });
});

describe("an exploration", () => {
  it("counts markings, and finds dead transitions and markings without a way out", () => {
    const trap = net(
      ["p"],
      [
        { label: "-a", in: ["p"] },
        { label: "-b", in: ["p"], out: ["q", "q"] },
        { label: "-c", in: ["q", "p"] },
      ],
    );
    expect(explore(trap)).toEqual({ markings: 3, dead: [2], stuck: [["q", "q"]] });
    expect(explore(line)).toEqual({ markings: 3, dead: [], stuck: [] });
  });

  it("is an error above its limit", () => {
    expect(() => explore(line, 2)).toThrow(new RangeError("More than 2 markings can be reached"));
  });
});

describe("a written trace", () => {
  it("has one list for each transition of the execution", () => {
    expect(parseTrace("+a, -a +b +c, completed")).toEqual([["+a"], ["-a", "+b", "+c"], ["completed"]]);
  });

  it("stands for every order of what one transition starts", () => {
    expect(reorderings(parseTrace("-a +b +c, -b"))).toEqual([
      ["-a", "+b", "+c", "-b"],
      ["-a", "+c", "+b", "-b"],
    ]);
    expect(reorderings([["+x", "+x"]])).toEqual([["+x", "+x"]]);
  });
});
