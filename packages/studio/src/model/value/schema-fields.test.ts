import type { JsonSchema } from "stepfold";
import { describe, expect, it } from "vitest";
import { fieldsOf, type SchemaField } from "./schema-fields.ts";

const brief = (fields: readonly SchemaField[] | null): unknown =>
  fields?.map(({ pointer, kind, isRequired }) => [pointer, kind, isRequired]) ?? null;

describe("fieldsOf", () => {
  it("makes the fields of an approval, the decision first, and says nothing before it was asked", () => {
    const fields = fieldsOf({
      type: "object",
      properties: { amount: { type: "number", minimum: 1 }, approved: { type: "boolean" }, comment: { type: "string" } },
      required: ["approved"],
    })!;
    expect(brief(fields)).toEqual([
      ["/approved", "boolean", true],
      ["/amount", "number", false],
      ["/comment", "lines", false],
    ]);
    expect(fields[0]!.choices.map(({ label }) => label)).toEqual(["Approve", "Reject"]);
    expect(fields[1]).toMatchObject({ label: "amount", typeText: "number", description: "at least 1" });
  });

  it("knows choices: of an enum, a constant, and constants with titles", () => {
    const fields = fieldsOf({
      type: "object",
      properties: {
        size: { enum: ["S", "L", 3, null] },
        only: { const: { a: 1 } },
        action: { oneOf: [{ const: "retry", title: "Try again" }, { const: "skip" }] },
        mixed: { oneOf: [{ const: 1 }, { type: "string" }] },
      },
    })!;
    expect(fields.map(({ choices }) => choices.map(({ label }) => label))).toEqual([
      ["S", "L", "3", "null"],
      ['{"a":1}'],
      ["Try again", "skip"],
      [],
    ]);
    expect(fields[3]!.kind).toBe("json");
  });

  it("groups objects, three levels deep, and takes everything else as JSON", () => {
    const nest = (levels: number): object => (levels === 0 ? { type: "string" } : { type: "object", properties: { in: nest(levels - 1) } });
    const fields = fieldsOf(nest(6) as never)!;
    const kinds: string[] = [];
    for (let field: SchemaField | undefined = fields[0]; field; field = field.fields[0]) kinds.push(field.kind);
    expect(kinds).toEqual(["group", "group", "json"]);
    const odd = {
      tags: { type: "array" },
      any: true,
      free: { type: "object" },
      both: { type: ["string", "number"] },
      perhaps: { type: ["string", "null"] },
    };
    expect(fieldsOf({ properties: odd } as never)!.map(({ kind }) => kind)).toEqual(["json", "json", "json", "json", "text"]);
  });

  it("makes one field of a value that is no object, and none of what says nothing", () => {
    expect(brief(fieldsOf({ type: "integer" }))).toEqual([["", "integer", true]]);
    const silent: readonly (JsonSchema | undefined)[] = [
      undefined,
      true,
      false,
      {},
      { $ref: "#/x" },
      { type: "object" },
      { type: "array" },
      { "~cut": 10 },
    ];
    for (const schema of silent) expect(fieldsOf(schema)).toBeNull();
  });

  it("bounds what a hostile schema can ask for", () => {
    const many = Object.fromEntries(Array.from({ length: 61 }, (_, index) => [`f${index}`, { type: "string" }]));
    expect(fieldsOf({ properties: many })).toBeNull();
    const inner = { type: "object", properties: Object.fromEntries(Object.entries(many).slice(0, 30)) };
    const [first, second, third] = fieldsOf({ properties: { a: inner, b: inner, c: inner } })!;
    expect([first!.kind, second!.kind, third!.kind]).toEqual(["group", "json", "json"]);
    const [long] = fieldsOf({ properties: { x: { title: "t".repeat(5_000), description: "d".repeat(5_000), enum: Array(200).fill(1) } } })!;
    expect([long!.label.length, long!.description.length, long!.kind]).toEqual([120, 600, "json"]);
    const wrong = { type: "object", properties: { a: null, b: 7, c: [], d: { type: 5, enum: "x", title: {}, oneOf: {} } }, required: "a" };
    expect(fieldsOf(wrong as never)!.map(({ kind }) => kind)).toEqual(["json", "json", "json", "json"]);
  });

  it("writes pointers that no name can break out of", () => {
    const names = ["a/b", "~", "constructor", "toString", ""];
    const fields = fieldsOf({ properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) })!;
    expect(fields.map(({ pointer }) => pointer)).toEqual(["/a~1b", "/~0", "/constructor", "/toString", "/"]);
  });
});
