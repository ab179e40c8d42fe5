import type { Json } from "stepfold";
import { describe, expect, it } from "vitest";
import { inputsFor, readFields, readJson } from "./field-values.ts";
import { fieldsOf } from "./schema-fields.ts";

const fields = fieldsOf({
  type: "object",
  properties: {
    approved: { type: "boolean" },
    count: { type: "integer" },
    price: { type: "number" },
    size: { enum: ["S", "L", 3] },
    note: { type: "string" },
    address: { type: "object", properties: { zip: { type: "string" }, city: { type: "string" } }, required: ["zip"] },
    free: {},
  },
  required: ["approved", "count"],
})!;

const read = (inputs: Readonly<Record<string, string>>) => readFields(fields, new Map(Object.entries(inputs)));

describe("readFields", () => {
  it("reads what was entered, and leaves out what was not", () => {
    expect(read({ "/approved": "1", "/count": " 3 ", "/size": "2", "/note": "", "/free": "[1]" })).toEqual({
      value: { approved: false, count: 3, size: 3, free: [1] },
      issues: null,
    });
  });

  it("says what is needed and what is no value, at its field", () => {
    const { issues } = read({ "/count": "3.5", "/price": "1,5", "/free": "{", "/address/city": "Bonn" });
    expect([...issues!.keys()].sort()).toEqual(["/address/zip", "/approved", "/count", "/free", "/price"]);
    expect(issues!.get("/approved")).toBe("Choose one");
    for (const text of ["", "  ", "abc", "Infinity", "1e999"])
      expect(read({ "/approved": "0", "/count": text }).issues?.has("/count")).toBe(true);
  });

  it("leaves out a group of which nothing was entered", () => {
    expect(read({ "/approved": "0", "/count": "1", "/address/zip": " " }).value).toEqual({ approved: true, count: 1 });
    expect(read({ "/approved": "0", "/count": "1", "/address/zip": "53111" }).value).toMatchObject({ address: { zip: "53111" } });
  });

  it("keeps the prototype out of it", () => {
    const odd = fieldsOf({ properties: { constructor: { type: "string" }, toString: { type: "string" } } })!;
    const { value } = readFields(odd, new Map([["/constructor", "x"]]));
    expect(Object.entries(value as object)).toEqual([["constructor", "x"]]);
  });

  it("reads a single value", () => {
    const only = fieldsOf({ type: "number" })!;
    expect(readFields(only, new Map([["", "7"]]))).toEqual({ value: 7, issues: null });
    expect(readFields(only, new Map()).issues?.get("")).toBe("This is needed");
  });
});

describe("readJson", () => {
  it("takes any JSON, and empty text as no value", () => {
    expect(readJson(" ")).toEqual({ value: undefined, issues: null });
    expect(readJson("null")).toEqual({ value: null, issues: null });
    expect(readJson("{a}").issues?.get("")).toMatch(/^Is not JSON/);
  });
});

describe("inputsFor", () => {
  it("is the other way round", () => {
    const value = { approved: false, count: 3, price: 1.5, size: "L", note: "hi", address: { zip: "1", city: "2" }, free: { a: [1] } };
    const inputs = inputsFor(fields, value)!;
    expect(readFields(fields, inputs)).toEqual({ value, issues: null });
    expect(inputsFor(fields, undefined)!.size).toBe(0);
  });

  it("refuses what the fields cannot hold", () => {
    const wrong: readonly Json[] = [
      { other: 1 },
      { approved: "yes" },
      { size: "XL" },
      { count: "3" },
      { address: { street: "x" } },
      [],
      5,
      null,
    ];
    for (const value of wrong) expect(inputsFor(fields, value)).toBeNull();
  });
});
