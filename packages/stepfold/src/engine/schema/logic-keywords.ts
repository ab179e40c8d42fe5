import { isJsonObject, type Json } from "../../core/values/json.ts";
import type { Check, CheckRun, InstanceLocation, SchemaNode, Seen } from "./check-run.ts";
import { type Building, isNames, type Keyword } from "./keyword.ts";
import { allOf, entriesOf, ofObject } from "./structure-keywords.ts";

/** Keywords that check the same value against other schemas. */
export const logicKeywords: Readonly<Record<string, Keyword>> = {
  $ref: (reference, building) => {
    const node = building.reference("$ref", reference);
    return node && ((value, run, place, seen) => run.within(node, value, place, seen));
  },
  $dynamicRef: dynamicRefKeyword,
  // from draft 2019-09; without `$recursiveAnchor` it means the same as `$ref`
  $recursiveRef: (reference, building) => {
    const node = building.reference("$recursiveRef", reference);
    return node && ((value, run, place, seen) => run.within(node, value, place, seen));
  },
  allOf: (schemas, building) => {
    const nodes = listOf("allOf", schemas, building);
    return nodes && ((value, run, place, seen) => allOf(nodes, (node) => run.within(node, value, place, seen)));
  },
  anyOf: (schemas, building) => {
    const nodes = listOf("anyOf", schemas, building);
    return (
      nodes &&
      ((value, run, place, seen) =>
        counted(nodes, value, run, place, seen, (count) => count > 0, "fits none of the schemas that are allowed"))
    );
  },
  oneOf: (schemas, building) => {
    const nodes = listOf("oneOf", schemas, building);
    return (
      nodes &&
      ((value, run, place, seen) => counted(nodes, value, run, place, seen, (count) => count === 1, "must fit exactly one of the schemas"))
    );
  },
  not: (schema, building) => {
    const node = building.node(schema);
    return (value, run, place) => !run.fits(node, value, place) || run.report(place, "is what must not be");
  },
  if: (condition, building) => {
    const { then: whenTrue, else: whenFalse } = building.schema;
    const node = building.node(condition);
    const [yes, no] = [whenTrue, whenFalse].map((schema) => (schema === undefined ? null : building.node(schema)));
    return (value, run, place, seen) => {
      const next = run.fits(node, value, place, seen) ? yes : no;
      return !next || run.within(next, value, place, seen);
    };
  },
  dependentSchemas: (schemas, building) => dependent(entriesOf("dependentSchemas", schemas, building), building),
  // from drafts before 2019-09: `dependentSchemas` and `dependentRequired` in one keyword
  dependencies: (schemas, building) => {
    const entries = entriesOf("dependencies", schemas, building);
    return dependent(
      entries.map(([key, wanted]) => [key, isNames(wanted) ? { required: wanted } : wanted]),
      building,
    );
  },
};

function listOf(keyword: string, schemas: Json, building: Building): readonly SchemaNode[] | null {
  if (Array.isArray(schemas)) return schemas.map((schema) => building.node(schema as Json));
  building.mistake(keyword, "must be a list of schemas");
  return null;
}

/** Checks a value against each of the schemas, and whether the number of schemas that it fits is right. */
function counted(
  nodes: readonly SchemaNode[],
  value: Json,
  run: CheckRun,
  place: InstanceLocation | null,
  seen: Seen,
  isRight: (count: number) => boolean,
  message: string,
): boolean {
  const before = run.issues.length;
  const count = nodes.filter((node) => run.within(node, value, place, seen)).length;
  const inner = run.issues.splice(before);
  if (isRight(count)) return true;
  run.report(place, count > 0 ? `${message}, and fits ${count}` : message);
  // the reasons why the value does not fit the schemas
  if (count === 0) for (const issue of inner.slice(0, maxInner)) run.issues.push(issue);
  return false;
}

/** The most reasons that are given if a value fits none of the schemas. */
const maxInner = 20;

function dependent(entries: readonly (readonly [string, Json])[], building: Building): Check {
  const nodes = entries.map(([key, schema]) => [key, building.node(schema)] as const);
  return ofObject((value, run, place, seen) => {
    run.spend(nodes.length);
    return allOf(nodes, ([key, node]) => !Object.hasOwn(value, key) || run.within(node, value, place, seen));
  });
}

/**
 * The check of `$dynamicRef`: it leads to the outermost of the schemas that led here with the same dynamic anchor. If the target of the
 * reference is not a dynamic anchor, it works like `$ref`.
 */
function dynamicRefKeyword(reference: Json, building: Building): Check | null {
  const node = building.reference("$dynamicRef", reference);
  if (!node) return null;
  const anchor = String(reference).split("#")[1] ?? "";
  const isDynamic = node.resource.dynamicAnchors.get(anchor) === node;
  return (value, run, place, seen) => {
    run.spend(isDynamic ? run.scope.length : 0);
    const target = isDynamic ? run.scope.find(({ dynamicAnchors }) => dynamicAnchors.has(anchor))?.dynamicAnchors.get(anchor) : node;
    return run.within(target ?? node, value, place, seen);
  };
}

/** Whether a schema has a keyword about the members or items that no other keyword has evaluated. */
export function isWatching(schema: Json): boolean {
  return isJsonObject(schema) && (schema.unevaluatedProperties !== undefined || schema.unevaluatedItems !== undefined);
}
