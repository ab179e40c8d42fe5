import { isId } from "../../values/ids/id.ts";
import { isJsonObject, type JsonObject } from "../../values/json.ts";
import type { DefinitionReport } from "../definition-report.ts";

/** Checks the id of a workflow or node. */
export function checkId(value: JsonObject, pointer: string, key: string, report: DefinitionReport): void {
  if (value[key] === undefined) report.add("REQUIRED", `${pointer}/${key}`, "is missing");
  else if (!isId(value[key])) report.add("ID_INVALID", `${pointer}/${key}`, 'must be 1 to 128 letters, digits, "_" or "-"');
}

/** Checks the type of an optional member. */
export function checkType(value: JsonObject, pointer: string, key: string, type: keyof typeof typeWords, report: DefinitionReport): void {
  const found = value[key];
  if (found === undefined || (type === "object" ? isJsonObject(found) : typeof found === type)) return;
  report.add("TYPE", `${pointer}/${key}`, `must be ${typeWords[type]}`);
}

const typeWords = { string: "text", object: "an object", boolean: "true or false" } as const;

/** Checks that an optional member is one of the given words. */
export function checkOneOf(value: JsonObject, pointer: string, key: string, words: readonly string[], report: DefinitionReport): void {
  if (value[key] === undefined || words.includes(value[key] as string)) return;
  report.add("TYPE", `${pointer}/${key}`, `must be one of ${words.map((word) => `"${word}"`).join(", ")}`);
}
