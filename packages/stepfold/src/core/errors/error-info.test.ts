import { describe, expect, it } from "vitest";
import { errorInfo, stackOf } from "./error-info.ts";
import { StepfoldError } from "./stepfold-error.ts";

describe("stackOf", () => {
  it("gives the stack of what user code has thrown, without secrets", () => {
    const error = new TypeError("no password s3cret");
    expect(stackOf(error, (text) => text.replaceAll("s3cret", "***"))).toMatch(/^TypeError: no password \*\*\*\n\s+at /);
  });

  it("gives none of what has none, nor of a mistake that this library has found", () => {
    const same = (text: string): string => text;
    for (const thrown of ["text", null, { stack: 7 }, new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId: "w" })])
      expect(stackOf(thrown, same)).toBeUndefined();
  });
});

describe("errorInfo", () => {
  it("keeps name, message and code of an error, and where it happened", () => {
    const error = Object.assign(new TypeError("no such host"), { code: "ENOTFOUND" });
    expect(errorInfo(error, "call")).toEqual({ name: "TypeError", message: "no such host", code: "ENOTFOUND", nodeId: "call" });
    expect(errorInfo(Object.assign(new Error("x"), { code: 23505 })).code).toBe("23505");
    expect(Object.keys(errorInfo(new Error("x")))).toEqual(["name", "message"]);
  });

  it.each<[string, unknown, string]>([
    ["text", "out of paper", "out of paper"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a number", 7, "7"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["a plain object", { reason: "busy" }, '{"reason":"busy"}'],
    ["an object with a message", { message: "busy", name: "" }, "busy"],
    ["an array", [1, 2], "[1,2]"],
  ])("makes a message of %s", (_, thrown, message) => {
    expect(errorInfo(thrown)).toEqual({ name: "Error", message });
  });

  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  it.each<[string, unknown]>([
    ["a getter that throws", Object.defineProperty({}, "message", { get: () => nothing() })],
    ["a revoked proxy", revoked.proxy],
    ["a cycle", cyclic],
    ["a toJSON that throws", { toJSON: () => nothing() }],
    ["a toString that throws", Object.assign(() => 0, { toString: () => nothing() })],
    ["a toJSON that gives nothing", { toJSON: () => undefined }],
  ])("survives %s", (_, thrown) => {
    expect(errorInfo(thrown)).toEqual({ name: "Error", message: "something that cannot be read was thrown" });
  });

  it("cuts what is long, and leaves no half character", () => {
    const { message, name, code } = errorInfo({ name: "n".repeat(500), message: `${"m".repeat(1_998)}😀😀`, code: "c".repeat(500) });
    expect(message).toBe(`${"m".repeat(1_998)}\uFFFD…`);
    expect([name.length, code?.length]).toEqual([100, 100]);
    expect(errorInfo("\ud800").message).toBe("\uFFFD");
  });

  it("F6: looks at a bounded part of a long text, and shows no half of a secret at its end", () => {
    const seen: number[] = [];
    const secret = `sk-${"x".repeat(3_000)}`;
    const scrub = (text: string): string => {
      seen.push(text.length);
      return text.replaceAll(secret, "***");
    };
    const thrown = { name: "n".repeat(1e6), message: `${secret.repeat(2)} ${"a".repeat(500)} ${secret.repeat(9)}`, code: "c".repeat(1e6) };
    const { message } = errorInfo(thrown, undefined, scrub);
    expect(Math.max(...seen)).toBe(8_000);
    expect(message).not.toContain("xxxx");
    expect(errorInfo("m".repeat(1e6), undefined, scrub).message).toHaveLength(2_000);
  });

  it("scrubs name, message and code", () => {
    const scrub = (text: string): string => text.replaceAll("hunter2", "***");
    expect(errorInfo({ name: "hunter2", message: "a hunter2 b", code: "hunter2" }, undefined, scrub)).toEqual({
      name: "***",
      message: "a *** b",
      code: "***",
    });
  });
});

function nothing(): never {
  throw new RangeError("out of reach");
}
