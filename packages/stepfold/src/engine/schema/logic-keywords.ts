import { isJsonObject, type Json } from "../../core/values/json.ts";
import type { Check, CheckRun, InstanceLocation, SchemaNode, Seen } from "./check-run.ts";
import { type Building, isNames, type Keyword } from "./keyword.ts";
import { allOf, entriesOf, ofObject } from "./structure-keywords.ts";

/** Keywords that hold the same value against other schemas. */
export const logicKeywords: Readonly<Record<string, Keyword>> = {
  $ref: (reference, building) => {
    const node = building.reference("$ref", reference);
    return node && ((value, run, place, seen) => run.within(node, value, place, seen));
  },
  $dynamicRef: dynamicRefKeyword,
  // of draft 2019-09: without `$recursiveAnchor` the same as "$ref"
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
  // before draft 2019-09: `dependentSchemas` and `dependentRequired` in one
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
  // why it does not fit each of them
  if (count === 0) for (const issue of inner.slice(0, maxInner)) run.issues.push(issue);
  return false;
}

/** How many reasons are given why a value fits none of several schemas. */
const maxInner = 20;

function dependent(entries: readonly (readonly [string, Json])[], building: Building): Check {
  const nodes = entries.map(([key, schema]) => [key, building.node(schema)] as const);
  return ofObject((value, run, place, seen) => {
    run.spend(nodes.length);
    return allOf(nodes, ([key, node]) => !Object.hasOwn(value, key) || run.within(node, value, place, seen));
  });
}

/** Leads to the outermost schema on the way here that has this dynamic anchor. */
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

/** Whether a schema asks for members or items that others have not looked at. */
export function isWatching(schema: Json): boolean {
  return isJsonObject(schema) && (schema.unevaluatedProperties !== undefined || schema.unevaluatedItems !== undefined);
}
