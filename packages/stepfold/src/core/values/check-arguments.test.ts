import { expect, it } from "vitest";
import { aText, aTime, checkOptions, refuseUnknown, requireMethods, requireStore } from "./check-arguments.ts";

it("refuses an option that is none, and says which was probably meant", () => {
  const known = ["workflow", "limits"];
  expect(refuseUnknown("new WorkflowEngine", { workflow: 1 }, known)).toBeUndefined();
  expect(() => refuseUnknown("run", { context: 1 } as object, known, { context: "workflow" })).toThrow('Did you mean "workflow"?');
  expect(() => refuseUnknown("new WorkflowEngine", { wrokflow: 1 }, known)).toThrow(
    expect.objectContaining({ code: "OPTION_UNKNOWN", message: expect.stringContaining('Did you mean "workflow"?') }),
  );
  expect(() => refuseUnknown("new WorkflowEngine", { validator: 1 }, known)).toThrow(
    expect.objectContaining({ code: "OPTION_UNKNOWN", message: expect.stringContaining("There are: workflow, limits") }),
  );
});

it("refuses options that are no object", () => {
  for (const wrong of [null, undefined, 42, "x"] as unknown[])
    expect(() => refuseUnknown("createRuntime", wrong as object, ["store"])).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining("options of createRuntime") }),
    );
});

const reasonOf = (value: unknown): unknown => {
  try {
    requireMethods("client", value, "a Pool of pg", ["query", "connect"]);
    return null;
  } catch (error) {
    return error;
  }
};

it("lets a value with the methods be, also of a class", () => {
  class Pool {
    query(): void {}
    connect(): void {}
  }
  expect(reasonOf(new Pool())).toBe(null);
});

it("says what is missing, and what was meant", () => {
  expect(reasonOf(undefined)).toMatchObject({ code: "OPTION_INVALID", message: 'Option "client" must be a Pool of pg, not undefined' });
  expect(reasonOf(null)).toMatchObject({ message: expect.stringContaining("not null") });
  for (const value of [{}, "postgres://host", 42, { query: () => null }]) expect(reasonOf(value)).toMatchObject({ code: "OPTION_INVALID" });
  expect(reasonOf({ query: () => null })).toMatchObject({ message: expect.stringContaining("it has no method connect()") });
});

it("knows a store by its methods", () => {
  expect(() => requireStore("store", { load: () => null })).toThrow('Option "store" must be a store, such as sqliteStore("app.db")');
});

it("checks the values of options, and that required ones are there", () => {
  const check = (options: { readonly name?: string; readonly waitMs?: number }): void =>
    checkOptions("sample", options, { name: aText, waitMs: aTime }, ["name"]);
  expect(check({ name: "a", waitMs: 0 })).toBeUndefined();
  expect(check({ name: "a", waitMs: undefined } as never)).toBeUndefined();
  expect(() => check({})).toThrow(
    expect.objectContaining({ code: "OPTION_INVALID", details: { option: "name", reason: "must be a text" } }),
  );
  expect(() => check({ name: "a", waitMs: "30d" } as never)).toThrow('Option "waitMs" must be a number, at least 0');
  expect(() => check({ name: "a", wait: 1 } as never)).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
});
