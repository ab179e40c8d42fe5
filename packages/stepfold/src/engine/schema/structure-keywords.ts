import { isJsonObject, type Json, type JsonObject } from "../../core/values/json.ts";
import { shortPointerOf } from "../../core/values/pointer.ts";
import type { Pattern } from "../../expressions/pattern/pattern.ts";
import type { Check, CheckRun, Evaluated, InstanceLocation, SchemaNode } from "./check-run.ts";
import { isCount, isNames, type Keyword, type KeywordContext } from "./keyword.ts";
import { isStructure, textOf } from "./value-keywords.ts";

/** The most members that a message names. */
const maxNames = 20;

/** Keywords about members of objects and items of lists, except for `lastKeywords`. */
export const structureKeywords: Readonly<Record<string, Keyword>> = {
  required: (names, context) => {
    if (isNames(names)) return ofObject((value, run, place) => hasAll(value, names, run, place, ""));
    context.mistake("required", "must be a list of names");
    return null;
  },
  minProperties: ofCount("minProperties", (count, bound) => count >= bound, "must have at least", "members"),
  maxProperties: ofCount("maxProperties", (count, bound) => count <= bound, "must have at most", "members"),
  minItems: ofCount("minItems", (count, bound) => count >= bound, "must have at least", "items"),
  maxItems: ofCount("maxItems", (count, bound) => count <= bound, "must have at most", "items"),
  dependentRequired: (wanted, context) => {
    if (!isJsonObject(wanted) || !Object.values(wanted).every(isNames)) {
      context.mistake("dependentRequired", "must be an object of lists of names");
      return null;
    }
    const entries = Object.entries(wanted) as [string, readonly string[]][];
    return ofObject((value, run, place) => {
      run.spend(entries.length);
      return allOf(
        entries,
        ([key, names]) => !Object.hasOwn(value, key) || hasAll(value, names, run, place, `, which is required if there is "${key}"`),
      );
    });
  },
  propertyNames: (schema, context) => {
    const node = context.node(schema);
    return ofObject((value, run, around) => allOf(Object.keys(value), (key) => run.evaluate(node, key, { around, key }) !== null));
  },
  // the first of these three keywords that a schema has makes the check for all three
  properties: (_, context) => membersOf(context),
  patternProperties: (_, context) => (context.schema.properties === undefined ? membersOf(context) : null),
  additionalProperties: (_, context) =>
    context.schema.properties === undefined && context.schema.patternProperties === undefined ? membersOf(context) : null,
  prefixItems: (_, context) => itemsOf(context),
  items: (_, context) => (context.schema.prefixItems === undefined ? itemsOf(context) : null),
  contains: containsKeyword,
  uniqueItems: (isWanted) => (isWanted === true ? ofList(areUnique) : null),
};

/** Keywords about members and items that no other keyword has evaluated. They have to run last. */
export const lastKeywords: Readonly<Record<string, Keyword>> = {
  unevaluatedProperties: (schema, context) => {
    const node = context.node(schema);
    return ofObject((value, run, around, evaluated) => {
      const keys = Object.keys(value).filter((key) => !evaluated.has(key));
      run.spend(3 * keys.length);
      const isValid = allOf(keys, (key) => run.evaluate(node, value[key]!, { around, key }) !== null);
      run.markAllEvaluated(evaluated);
      return isValid;
    });
  },
  unevaluatedItems: (schema, context) => {
    const node = context.node(schema);
    return ofList((value, run, around, evaluated) => {
      run.spend(value.length);
      const isValid = allOf(
        [...value.entries()],
        ([key, item]) => evaluated.has(key) || run.evaluate(node, item, { around, key }) !== null,
      );
      run.markAllEvaluated(evaluated);
      return isValid;
    });
  },
};

type CheckOf<T> = (value: T, run: CheckRun, place: InstanceLocation | null, evaluated: Evaluated) => boolean;

/** Makes a check that only looks at objects: any other value fits. */
export function ofObject(check: CheckOf<JsonObject>): Check {
  return (value, run, place, evaluated) => !isJsonObject(value) || check(value, run, place, evaluated);
}

/** Makes a check that only looks at lists: any other value fits. */
function ofList(check: CheckOf<readonly Json[]>): Check {
  return (value, run, place, evaluated) => !Array.isArray(value) || check(value as readonly Json[], run, place, evaluated);
}

/** Works like `every`, but does not stop at the first item that does not hold, so that every mistake is reported. */
export function allOf<T>(list: Iterable<T>, holds: (one: T) => boolean): boolean {
  let all = true;
  for (const one of list) if (!holds(one)) all = false;
  return all;
}

function hasAll(value: JsonObject, names: readonly string[], run: CheckRun, place: InstanceLocation | null, more: string): boolean {
  run.spend(3 * names.length);
  return allOf(names, (name) => Object.hasOwn(value, name) || run.report(place, `lacks "${name}"${more}`));
}

/** Makes a keyword that limits the number of members or items. */
function ofCount(keyword: string, holds: (count: number, bound: number) => boolean, message: string, what: "members" | "items"): Keyword {
  return (bound, context) => {
    if (!isCount(bound)) {
      context.mistake(keyword, "must be a whole number of at least 0");
      return null;
    }
    const check = (count: number, run: CheckRun, place: InstanceLocation | null): boolean => {
      run.spend(what === "members" ? count : 0);
      return holds(count, bound) || run.report(place, `${message} ${bound} ${what}`);
    };
    return what === "items"
      ? ofList((value, run, place) => check(value.length, run, place))
      : ofObject((value, run, place) => check(Object.keys(value).length, run, place));
  };
}

/** The check of `properties`, `patternProperties` and `additionalProperties` together. */
function membersOf(context: KeywordContext): Check {
  const { properties, patternProperties, additionalProperties } = context.schema;
  const known = new Map(entriesOf("properties", properties, context).map(([key, schema]) => [key, context.node(schema)]));
  const patterns: (readonly [Pattern, SchemaNode])[] = [];
  for (const [source, schema] of entriesOf("patternProperties", patternProperties, context)) {
    const pattern = context.pattern(`patternProperties${shortPointerOf([source])}`, source);
    if (pattern) patterns.push([pattern, context.node(schema)]);
  }
  const others = additionalProperties === undefined ? null : context.node(additionalProperties);
  const needsEach = patterns.length > 0 || others !== null;
  const unknown = additionalProperties === false && patterns.length === 0 && known.size > 0 ? unknownText([...known.keys()]) : null;
  return ofObject((value, run, around, evaluated) => {
    const given = Object.keys(value);
    // if only `properties` matter, it is enough to look at the members that they name
    const keys = needsEach || given.length < known.size ? given : [...known.keys()].filter((key) => Object.hasOwn(value, key));
    run.spend(2 * given.length + keys.length);
    return allOf(keys, (key) => {
      const nodes = patterns.filter(([pattern]) => pattern.matches(key, run.spend)).map(([, node]) => node);
      if (known.has(key)) nodes.unshift(known.get(key)!);
      if (nodes.length === 0 && unknown !== null) return run.report({ around, key }, unknown);
      if (nodes.length === 0 && others) nodes.push(others);
      if (nodes.length > 0) run.markEvaluated(evaluated, key);
      return allOf(nodes, (node) => run.evaluate(node, value[key]!, { around, key }) !== null);
    });
  });
}

/** Says which members there are instead of one that is not allowed. */
function unknownText(names: readonly string[]): string {
  const more = names.length > maxNames ? `, and ${names.length - maxNames} more` : "";
  return `is unknown; there are: ${names.slice(0, maxNames).join(", ")}${more}`;
}

export function entriesOf(keyword: string, schemas: Json | undefined, context: KeywordContext): readonly (readonly [string, Json])[] {
  if (schemas === undefined) return [];
  if (isJsonObject(schemas)) return Object.entries(schemas);
  context.mistake(keyword, "must be an object of schemas");
  return [];
}

/** The check of `prefixItems` and `items` together. Before draft 2020-12 these were `items`, as a list, and `additionalItems`. */
function itemsOf(context: KeywordContext): Check | null {
  const { prefixItems, items, additionalItems } = context.schema;
  const isOld = prefixItems === undefined && Array.isArray(items);
  const first = isOld ? items : (prefixItems ?? []);
  const rest = isOld ? additionalItems : items;
  if (!Array.isArray(first)) {
    context.mistake("prefixItems", "must be a list of schemas");
    return null;
  }
  const nodes = first.map((schema) => context.node(schema as Json));
  const others = rest === undefined ? null : context.node(rest);
  return ofList((value, run, around, evaluated) => {
    if (others) run.markAllEvaluated(evaluated);
    const count = others ? value.length : Math.min(nodes.length, value.length);
    run.spend(count);
    return allOf(Array.from({ length: count }).keys(), (key) => {
      run.markEvaluated(evaluated, key);
      return run.evaluate(nodes[key] ?? others!, value[key]!, { around, key }) !== null;
    });
  });
}

function containsKeyword(schema: Json, context: KeywordContext): Check | null {
  const { minContains: min = 1, maxContains: max = Number.POSITIVE_INFINITY } = context.schema;
  if (!isCount(min) || !(max === Number.POSITIVE_INFINITY || isCount(max))) {
    context.mistake(isCount(min) ? "maxContains" : "minContains", "must be a whole number of at least 0");
    return null;
  }
  const node = context.node(schema);
  return ofList((value, run, around, evaluated) => {
    let count = 0;
    for (const [key, item] of value.entries()) {
      if (!run.fits(node, item, { around, key })) continue;
      count++;
      run.markEvaluated(evaluated, key);
    }
    if (count < min) return run.report(around, `must have at least ${min} items that fit "contains", not ${count}`);
    return count <= max || run.report(around, `must have at most ${max} items that fit "contains", not ${count}`);
  });
}

function areUnique(items: readonly Json[], run: CheckRun, place: InstanceLocation | null): boolean {
  const plain = new Map<Json, number>();
  const structures = new Map<string, number>();
  run.spend(items.length);
  for (const [i, item] of items.entries()) {
    const [known, key] = (isStructure(item) ? [structures, textOf(item, run)] : [plain, item]) as [Map<Json, number>, Json];
    const before = known.get(key);
    if (before !== undefined) return run.report(place, `has the same item twice, at ${before} and ${i}`);
    known.set(key, i);
  }
  return true;
}
