import type { Issue, IssueCode } from "../errors/issue.ts";
import { isId } from "../values/id.ts";
import { isJsonObject, type JsonObject } from "../values/json.ts";
import { similar } from "../values/similar.ts";

/** Reports a mistake. */
export type Report = (code: IssueCode, pointer: string, message: string, severity?: Issue["severity"]) => void;

/** Warns of keys that look like one of ours misspelt. Editors keep keys of their own beside them. */
export function checkKeys(value: JsonObject, pointer: string, known: readonly string[], report: Report): void {
  for (const key of Object.keys(value)) {
    const meant = known.includes(key) ? undefined : similar(key, known);
    if (meant) report("KEY_UNKNOWN", `${pointer}/${key}`, `is not read. Did you mean "${meant}"?`, "warning");
  }
}

/** Checks the id of a workflow or node. */
export function checkId(value: JsonObject, pointer: string, key: string, report: Report): void {
  if (value[key] === undefined) report("REQUIRED", `${pointer}/${key}`, "is missing");
  else if (!isId(value[key])) report("ID_INVALID", `${pointer}/${key}`, 'must be 1 to 128 letters, digits, "_" or "-"');
}

/** Checks the type of an optional member. */
export function checkType(value: JsonObject, pointer: string, key: string, type: "string" | "object", report: Report): void {
  const found = value[key];
  if (found === undefined || (type === "object" ? isJsonObject(found) : typeof found === type)) return;
  report("TYPE", `${pointer}/${key}`, `must be ${type === "object" ? "an object" : "text"}`);
}

/** Checks an optional member that is one of a few words. */
export function checkOneOf(value: JsonObject, pointer: string, key: string, words: readonly string[], report: Report): void {
  if (value[key] === undefined || words.includes(value[key] as string)) return;
  report("TYPE", `${pointer}/${key}`, `must be one of ${words.map((word) => `"${word}"`).join(", ")}`);
}

/** "Did you mean", where something known is similar. */
export function suggestion(name: unknown, known: ReadonlySet<string>): string {
  const meant = typeof name === "string" ? similar(name, known) : undefined;
  return meant ? `. Did you mean "${meant}"?` : "";
}
