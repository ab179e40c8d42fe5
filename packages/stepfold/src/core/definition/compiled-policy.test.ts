import { describe, expect, it } from "vitest";
import { compileTemplate } from "../../expressions/compile-template.ts";
import { defaultLimits } from "../values/limits.ts";
import { compileDuration, compilePolicy, evaluateDuration, evaluatePolicy } from "./compiled-policy.ts";
import type { RetryPolicy } from "./definition.ts";
import { DefinitionReport } from "./definition-report.ts";
import type { RetryRule } from "./retry.ts";

function ruleOf(policy: RetryPolicy, scope: Record<string, unknown> = {}): RetryRule {
  const report = new DefinitionReport(defaultLimits);
  const compiled = compilePolicy(policy, "/retryPolicy", compileTemplate, report);
  expect(report.issues).toEqual([]);
  return evaluatePolicy(compiled!, scope, "call");
}

describe("a retry policy", () => {
  it("is read from numbers, texts and expressions", () => {
    expect(ruleOf({ maxAttempts: 3, interval: 1_000, backoff: "fixed" })).toEqual({
      maxAttempts: 3,
      intervalMs: 1_000,
      backoff: "fixed",
      jitter: 0,
    });
    expect(ruleOf({ maxAttempts: "3", interval: "2s", backoff: "exponential", maxInterval: "PT1M", jitter: 0.5 })).toEqual({
      maxAttempts: 3,
      intervalMs: 2_000,
      backoff: "exponential",
      maxIntervalMs: 60_000,
      jitter: 0.5,
    });
    const scope = { input: { tries: 4, wait: "3s", text: " 5 " } };
    expect(
      ruleOf(
        { maxAttempts: "{{ input.tries }}", interval: "{{ input.wait }}", backoff: "fixed", maxInterval: "{{ input.tries }}s" },
        scope,
      ),
    ).toEqual({
      maxAttempts: 4,
      intervalMs: 3_000,
      backoff: "fixed",
      maxIntervalMs: 4_000,
      jitter: 0,
    });
    expect(ruleOf({ maxAttempts: "{{ input.text }}", interval: 0, backoff: "fixed" }, scope).maxAttempts).toBe(5);
  });

  it.each<[Partial<RetryPolicy>, string]>([
    [{ maxAttempts: "{{ input.none }}" }, "maxAttempts"],
    [{ maxAttempts: "{{ input.text }}" }, "maxAttempts"],
    [{ maxAttempts: "{{ input.zero }}" }, "maxAttempts"],
    [{ maxAttempts: "{{ input.zero / input.zero }}" }, "maxAttempts"],
    [{ maxAttempts: "{{ input.list }}" }, "maxAttempts"],
    [{ maxAttempts: "{{ input.blank }}" }, "maxAttempts"],
    [{ interval: "{{ input.none }}" }, "interval"],
    [{ interval: "{{ input.text }}" }, "interval"],
    [{ interval: "{{ input.zero - 5 }}" }, "interval"],
    [{ interval: "{{ 1 / input.zero }}" }, "interval"],
    [{ maxInterval: "{{ input.list }}" }, "maxInterval"],
    [{ maxInterval: "{{ input.none.deeper }}" }, "maxInterval"],
  ])("that gives no number is an error, never NaN: %j", (more, field) => {
    const scope = { input: { text: "many", zero: 0, list: [3], none: null, blank: " " } };
    expect(() => ruleOf({ maxAttempts: 3, interval: 1, backoff: "fixed", ...more }, scope)).toThrow(
      expect.objectContaining({ code: "RETRY_POLICY_INVALID", details: expect.objectContaining({ nodeId: "call", field }) }),
    );
  });
});

describe("retryIf", () => {
  it.each([
    "error.code == 'BUSY' && attempt < 3",
    "{{ error.code == 'BUSY' && attempt < 3 }}",
  ])("is an expression, with or without braces: %s", (retryIf) => {
    const report = new DefinitionReport(defaultLimits);
    const compiled = compilePolicy({ maxAttempts: 5, interval: 0, backoff: "fixed", retryIf }, "", compileTemplate, report);
    const holds = (code: string, attempt: number): unknown => compiled?.retryIf?.evaluate({ error: { code }, attempt });
    expect([holds("BUSY", 1), holds("BUSY", 3), holds("GONE", 1)]).toEqual([true, false, false]);
  });
});

describe("a policy with a warning", () => {
  it("is used: only errors make it unusable", () => {
    const report = new DefinitionReport(defaultLimits);
    const policy = { maxAttempts: 5, interval: 0, backoff: "fixed", retryIf: "not {{ attempt < 3 }}" } as const;
    expect(compilePolicy(policy, "", compileTemplate, report)).toMatchObject({ maxAttempts: 5 });
    expect(report.issues).toEqual([expect.objectContaining({ severity: "warning", pointer: "/retryIf" })]);
  });
});

describe("a timeout", () => {
  it("may be a number, text or an expression", () => {
    const report = new DefinitionReport(defaultLimits);
    expect(compileDuration("5s", "/timeout", compileTemplate, report)).toBe(5_000);
    const computed = compileDuration("{{ input.seconds }}s", "/timeout", compileTemplate, report)!;
    const missing = (reason: string): Error => new Error(`no timeout: it ${reason}`);
    expect(evaluateDuration(computed, { input: { seconds: 3 } }, missing)).toBe(3_000);
    expect(evaluateDuration(7, {}, missing)).toBe(7);
    expect(() => evaluateDuration(computed, { input: {} }, missing)).toThrow("no timeout: it must not be undefined");
    expect(() => evaluateDuration(computed, { input: { seconds: "?" } }, missing)).toThrow(
      expect.objectContaining({ code: "DURATION_INVALID" }),
    );
    expect(compileDuration("?", "/timeout", compileTemplate, report)).toBeNull();
    expect(report.issues).toEqual([expect.objectContaining({ code: "DURATION_INVALID", pointer: "/timeout" })]);
  });
});
