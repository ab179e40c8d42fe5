import { describe, expect, it, vi } from "vitest";

const scope = { seed: () => "s", $now: 0 };

describe("functions that are loaded where an expression names one", () => {
  it("are missed until they are there, and only if one is named", async () => {
    vi.resetModules();
    const { compileExpression: compileAnew } = await import("./compile-expression.ts");
    const { missingFunctions } = await import("./load-functions.ts");
    expect(missingFunctions()).toBe(null);
    compileAnew("'a'.toUpperCase().split('a')");
    expect(missingFunctions()).toBe(null);
    const early = compileAnew("uuid()");
    expect(() => early.evaluate(scope)).toThrow("uuid is not loaded: await loadFunctions()");
    const loading = missingFunctions();
    expect(loading).not.toBe(null);
    expect(missingFunctions()).toBe(loading);
    await loading;
    expect(missingFunctions()).toBe(null);
    expect(early.evaluate(scope)).toMatch(/^[\da-f-]{36}$/);
  });
});
