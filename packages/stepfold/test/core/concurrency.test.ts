import { describe, expect, it } from "vitest";
import { check, compile } from "../../src/core/definition/compile.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";

const flow = (concurrency: unknown) => ({
  id: "w",
  nodes: [{ id: "a", type: "noop" }],
  edges: [],
  ...(concurrency !== undefined && { concurrency }),
});
const mistakes = (concurrency: unknown) => check(flow(concurrency), expressionLanguage).map(({ code, pointer }) => `${code} ${pointer}`);

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
    expect(mistakes(concurrency)).toEqual([mistake]);
  });
});
