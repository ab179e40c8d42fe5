import { describe, expect, it } from "vitest";
import { check, compile } from "../../src/core/definition/compile/compile.ts";
import { withNeeds } from "../../src/core/definition/needs.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";

const withMember = (member: "concurrency" | "rateLimit" | "taskQueue", value: unknown) => ({
  id: "w",
  nodes: [{ id: "a", type: "noop" }],
  edges: [],
  ...(value !== undefined && { [member]: value }),
});
const mistakesIn = (definition: unknown) => check(definition, expressionLanguage).map(({ code, pointer }) => `${code} ${pointer}`);
const flow = (concurrency: unknown) => withMember("concurrency", concurrency);
const rated = (rateLimit: unknown) => withMember("rateLimit", rateLimit);

describe("the concurrency of a workflow", () => {
  it("is a key with expressions, and a limit of 1 if none is given", () => {
    const { concurrency } = compile(flow({ key: "customer-{{ input.customer }}" }), expressionLanguage);
    const scope = expressionLanguage.executionScope({ context: {}, since: 0, input: { customer: 7 }, metadata: {}, at: 0 });
    expect([concurrency?.key.evaluate(scope), concurrency?.limit]).toEqual(["customer-7", 1]);
    expect(compile(flow({ key: "all", limit: 3 }), expressionLanguage).concurrency).toMatchObject({ limit: 3 });
    expect(compile(flow(undefined), expressionLanguage).concurrency).toBe(null);
  });

  it("is a part of what a workflow is", () => {
    const hashes = [undefined, { key: "a" }, { key: "b" }, { key: "a", limit: 2 }].map(
      (one) => compile(flow(one), expressionLanguage).hash,
    );
    expect(new Set(hashes).size).toBe(4);
  });

  it.each<[unknown, string]>([
    ["customer", "TYPE /concurrency"],
    [null, "TYPE /concurrency"],
    [{}, "REQUIRED /concurrency/key"],
    [{ key: 7 }, "TYPE /concurrency/key"],
    [{ key: "" }, "TYPE /concurrency/key"],
    [{ key: "{{ input. }}" }, "EXPRESSION_INVALID /concurrency/key"],
    [{ key: "a", limit: 0 }, "TYPE /concurrency/limit"],
    [{ key: "a", limit: 1.5 }, "TYPE /concurrency/limit"],
    [{ key: "a", limit: "1" }, "TYPE /concurrency/limit"],
    [{ key: "a", limit: 10_001 }, "TYPE /concurrency/limit"],
    [{ key: "a", limits: 2 }, "KEY_UNKNOWN /concurrency/limits"],
  ])("of %j is refused, and where", (concurrency, mistake) => {
    expect(mistakesIn(flow(concurrency))).toEqual([mistake]);
  });
});

describe("the rate limit of a workflow", () => {
  it("is a limit in a period, and a key with expressions if one is given", () => {
    const { rateLimit } = compile(rated({ limit: 10, period: "1m", key: "customer-{{ input.customer }}" }), expressionLanguage);
    const scope = expressionLanguage.executionScope({ context: {}, since: 0, input: { customer: 7 }, metadata: {}, at: 0 });
    expect([rateLimit?.key?.evaluate(scope), rateLimit?.limit, rateLimit?.periodMs]).toEqual(["customer-7", 10, 60_000]);
    expect(compile(rated({ limit: 1, period: 500 }), expressionLanguage).rateLimit).toEqual({ limit: 1, periodMs: 500, key: null });
    expect(compile(rated(undefined), expressionLanguage).rateLimit).toBe(null);
  });

  it("is a part of what a workflow is, and workers have to know it", () => {
    const all = [undefined, { limit: 1, period: 1 }, { limit: 2, period: 1 }, { limit: 1, period: 2 }, { limit: 1, period: 1, key: "a" }];
    expect(new Set(all.map((one) => compile(rated(one), expressionLanguage).hash)).size).toBe(5);
    expect(withNeeds(compile(rated(all[1]), expressionLanguage).definition).needs).toEqual(["rateLimit"]);
  });

  it.each<[unknown, string]>([
    ["10/m", "TYPE /rateLimit"],
    [{ period: "1m" }, "TYPE /rateLimit/limit"],
    [{ limit: 0, period: "1m" }, "TYPE /rateLimit/limit"],
    [{ limit: 1_001, period: "1m" }, "TYPE /rateLimit/limit"],
    [{ limit: 10 }, "TYPE /rateLimit/period"],
    [{ limit: 10, period: 0 }, "TYPE /rateLimit/period"],
    [{ limit: 10, period: "a while" }, "TYPE /rateLimit/period"],
    [{ limit: 10, period: "367 days" }, "TYPE /rateLimit/period"],
    [{ limit: 10, period: "1m", key: "" }, "TYPE /rateLimit/key"],
    [{ limit: 10, period: "1m", key: 7 }, "TYPE /rateLimit/key"],
    [{ limit: 10, period: "1m", key: "{{ input. }}" }, "EXPRESSION_INVALID /rateLimit/key"],
    [{ limit: 10, period: "1m", per: "1m" }, "KEY_UNKNOWN /rateLimit/per"],
  ])("of %j is refused, and where", (rateLimit, mistake) => {
    expect(mistakesIn(rated(rateLimit))).toEqual([mistake]);
  });
});

describe("the task queue of a workflow", () => {
  const queued = (taskQueue: unknown) => withMember("taskQueue", taskQueue);

  it("is a part of what a workflow is, and workers have to know it", () => {
    const hashes = [undefined, "gpu", "mail"].map((one) => compile(queued(one), expressionLanguage).hash);
    expect(new Set(hashes).size).toBe(3);
    expect(withNeeds(compile(queued("gpu"), expressionLanguage).definition).needs).toEqual(["taskQueue"]);
  });

  it.each([["a b"], [""], [7], [["gpu"]], ["{{ input.queue }}"]])("is a name, and not %j", (taskQueue) => {
    expect(mistakesIn(queued(taskQueue))).toEqual(["TYPE /taskQueue"]);
  });
});
