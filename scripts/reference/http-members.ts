import { readFileSync } from "node:fs";
import type { JsonObject } from "../../packages/stepfold/src/core/values/json.ts";
import { httpInput } from "../../packages/stepfold/src/nodes/http/http-data.ts";
import { library } from "../public-entries.ts";
import { membersOf } from "./source-docs.ts";

/** Returns a row for each member of the data of an `http` node: its name, what it may be, its default, and what it means. */
export function httpMembers(): readonly (readonly [string, string, string, string])[] {
  const { properties, required } = httpInput(1, 1) as {
    readonly properties: Readonly<Record<string, JsonObject>>;
    readonly required: string[];
  };
  return membersOf(readFileSync(`${library}/src/nodes/http/http-data.ts`, "utf8"), "HttpData").map(({ name, about }) => {
    const [meaning = "", byDefault] = about.split(/ ?Default: /);
    if (byDefault === undefined && !required.includes(name)) throw new TypeError(`HttpData.${name} does not say its default`);
    return [`\`${name}\``, typeText(properties[name]!), byDefault?.replace(/\.$/, "") ?? "required", meaning];
  });
}

/** Says what values a schema takes. */
function typeText({ type, enum: values, items }: JsonObject): string {
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(", ");
  if (type === "array") return `list of ${typeText(items as JsonObject)}s`;
  return (Array.isArray(type) ? type : [type]).map((one) => (one === "string" ? "text" : String(one))).join(" or ");
}
