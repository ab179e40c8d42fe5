import type { MetadataFilter } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { readMetadata } from "../text/read-metadata.ts";

/** The bound for each sign. */
const bounds: Readonly<Record<string, "gt" | "gte" | "lt" | "lte">> = { ">": "gt", ">=": "gte", "<": "lt", "<=": "lte" };

/**
 * Reads the filters of `--meta`: `stage=late`, `amount>=100`. Several bounds of one key are combined.
 *
 * @throws BadInput `USAGE`
 */
export function readMetadataFilters(given: readonly string[]): Readonly<Record<string, MetadataFilter>> {
  const filters = new Map<string, MetadataFilter>();
  for (const text of given) {
    const [, key = "", sign = "", value = ""] = /^([^=<>]+)(<=|>=|<|>|=)(.*)$/s.exec(text) ?? [];
    if (key === "") throw new BadInput("USAGE", `--meta must be key=value, or a bound such as "amount>=100", not "${text}"`);
    const bound = bounds[sign];
    const [, read] = readMetadata(`${key}=${value}`, "--meta");
    const before = filters.get(key);
    if (bound === undefined && before === undefined) filters.set(key, read);
    else if (
      bound === undefined ||
      (before !== undefined && (typeof before !== "object" || before === null || Object.hasOwn(before, bound)))
    )
      throw new BadInput("USAGE", `--meta says ${key} twice`, { hint: "One value, or bounds that differ: 'amount>=100' 'amount<200'" });
    else filters.set(key, { ...(before as object | undefined), [bound]: typeof read === "number" ? read : textOf(read, value) });
  }
  return Object.fromEntries(filters);
}

/** Returns a bound that is not a number as text. JSON in quotes is the text inside: `"10"` is the text 10. */
function textOf(read: string | number | boolean | null, given: string): string {
  return typeof read === "string" ? read : given;
}
