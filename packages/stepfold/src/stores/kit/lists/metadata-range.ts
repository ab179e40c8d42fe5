import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Json } from "../../../core/values/json.ts";
import type { MetadataBounds, MetadataFilter } from "../../../ports/list-filters.ts";

type Bound = keyof MetadataBounds<number>;
type Range = MetadataBounds<number> | MetadataBounds<string>;
type Scalar = Exclude<MetadataFilter, Range>;
type Filters = Readonly<Record<string, MetadataFilter | undefined>>;

const holds: Readonly<Record<Bound, (a: number | string, b: number | string) => boolean>> = {
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
};
const names = Object.keys(holds).join(", ");

/** The most characters of a name in an error. */
const maxShown = 80;

/** Returns true if a metadata filter has bounds, and is not a value. */
export function isRange(filter: MetadataFilter | undefined): filter is Range {
  return typeof filter === "object" && filter !== null;
}

/** Returns true if metadata has a value within the (checked) bounds of each key with bounds. Filters with a value are ignored. */
export function isInRanges(metadata: Readonly<Record<string, Json>>, filters: Filters): boolean {
  return Object.entries(filters).every(
    ([key, filter]) => !isRange(filter) || (Object.hasOwn(metadata, key) && isInRange(metadata[key], filter)),
  );
}

/** Returns the filters that are values, without those that have bounds. */
export function equalValues(filters: Filters): Readonly<Record<string, Scalar>> {
  const given = Object.entries(filters).filter(([, filter]) => filter !== undefined && !isRange(filter));
  return Object.fromEntries(given) as Readonly<Record<string, Scalar>>;
}

function isInRange(value: Json | undefined, bounds: Range): boolean {
  if (typeof value !== "number" && typeof value !== "string") return false;
  return Object.entries(bounds).every(
    ([name, bound]) => bound === undefined || (typeof value === typeof bound && holds[name as Bound](value, bound)),
  );
}

/** Checks filters with bounds. @throws StepfoldError `OPTION_INVALID`, which names the member and the bound (`metadata.amount.gte`) */
export function checkRanges(metadata: Filters): void {
  for (const [key, filter] of Object.entries(metadata)) {
    if (!isRange(filter)) continue;
    const option = `metadata.${shown(key)}`;
    const given = Object.entries(filter as Readonly<Record<string, unknown>>).filter(([, bound]) => bound !== undefined);
    if (Array.isArray(filter) || given.length === 0) throw invalid(option, `must be a value, or an object with a bound: ${names}`);
    for (const [name, bound] of given) {
      if (!Object.hasOwn(holds, name)) throw invalid(`${option}.${shown(name)}`, `is not a bound. The bounds are: ${names}`);
      if (typeof bound !== "string" && !Number.isFinite(bound)) throw invalid(`${option}.${name}`, "must be a number or text");
      if (typeof bound !== typeof given[0]![1]) throw invalid(`${option}.${name}`, "must be of the same type as the other bounds");
    }
  }
}

function shown(name: string): string {
  return name.length > maxShown ? `${name.slice(0, maxShown)}…` : name;
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
