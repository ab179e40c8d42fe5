import type { MetadataFilter } from "stepfold";
import { readMetadata } from "../arguments/read-metadata.ts";
import { BadInput } from "../bad-input.ts";

type Bound = "gt" | "gte" | "lt" | "lte";

/** The bound for each sign but `=`, which asks for one value. */
const bounds: Readonly<Record<string, Bound>> = { ">": "gt", ">=": "gte", "<": "lt", "<=": "lte" };

/**
 * Reads the filters of `--meta`: `stage=late`, `amount>=100`. Several bounds of one key are combined.
 *
 * @throws BadInput `USAGE`
 */
export function readMetadataFilters(given: readonly string[]): Readonly<Record<string, MetadataFilter>> {
  const filters = new Map<string, MetadataFilter>();
  for (const text of given) {
    const { key, bound, value } = readFilter(text);
    const before = filters.get(key);
    const isOther = before === undefined || (bound !== undefined && isBounds(before) && !Object.hasOwn(before, bound));
    if (!isOther) {
      const hint = "One value, or bounds that differ: 'amount>=100' 'amount<200'";
      throw new BadInput("USAGE", `--meta says ${key} twice`, { hint });
    }
    filters.set(key, bound === undefined ? value : { ...(before as object | undefined), [bound]: value });
  }
  return Object.fromEntries(filters);
}

/** Reads one filter. Without a bound, the value is the one that is asked for. */
function readFilter(text: string) {
  const [, key = "", sign = "", given = ""] = /^([^=<>]+)(<=|>=|<|>|=)(.*)$/s.exec(text) ?? [];
  if (key === "") throw new BadInput("USAGE", `--meta must be key=value, or a bound such as "amount>=100", not "${text}"`);
  if (/^[=<>]/.test(given)) {
    const hint = `A value that begins with ${given[0]} is written in quotes: '${key}${sign}${JSON.stringify(given)}'`;
    throw new BadInput("USAGE", `--meta has a sign that does not exist in "${text}". There are: = > >= < <=`, { hint });
  }
  const bound = bounds[sign];
  const [, value] = readMetadata(`${key}=${given}`, "--meta");
  // numbers and texts have an order, so any other value of a bound is the text as it was given
  return { key, bound, value: bound === undefined || typeof value === "number" || typeof value === "string" ? value : given };
}

function isBounds(filter: MetadataFilter): filter is MetadataFilter & object {
  return typeof filter === "object" && filter !== null;
}
