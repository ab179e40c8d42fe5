import { isJsonObject, type Json } from "../../core/values/json.ts";
import type { Check, CheckRun, Evaluated, InstanceLocation, SchemaNode } from "./check-run.ts";
import { isNames, type Keyword, type KeywordContext } from "./keyword.ts";
import { allOf, entriesOf, ofObject } from "./structure-keywords.ts";

/** Keywords that check the same value against other schemas. */
export const logicKeywords: Readonly<Record<string, Keyword>> = {
  $ref: (reference, context) => {
    const node = context.reference("$ref", reference);
    return node && ((value, run, place, evaluated) => run.within(node, value, place, evaluated));
  },
  $dynamicRef: dynamicRefKeyword,
  // from draft 2019-09; `$recursiveAnchor` is not supported, so this always works like `$ref`
  $recursiveRef: (reference, context) => {
    const node = context.reference("$recursiveRef", reference);
    return node && ((value, run, place, evaluated) => run.within(node, value, place, evaluated));
  },
  allOf: (schemas, context) => {
    const nodes = listOf("allOf", schemas, context);
    return nodes && ((value, run, place, evaluated) => allOf(nodes, (node) => run.within(node, value, place, evaluated)));
  },
  anyOf: (schemas, context) => {
    const nodes = listOf("anyOf", schemas, context);
    return (
      nodes &&
      ((value, run, place, evaluated) =>
        counted(nodes, value, run, place, evaluated, (count) => count > 0, "fits none of the schemas that are allowed"))
    );
  },
  oneOf: (schemas, context) => {
    const nodes = listOf("oneOf", schemas, context);
    return (
      nodes &&
      ((value, run, place, evaluated) =>
        counted(nodes, value, run, place, evaluated, (count) => count === 1, "must fit exactly one of the schemas"))
    );
  },
  not: (schema, context) => {
    const node = context.node(schema);
    return (value, run, place) => !run.fits(node, value, place) || run.report(place, 'must not fit the schema in "not"');
  },
  if: (condition, context) => {
    const { then: whenTrue, else: whenFalse } = context.schema;
    const node = context.node(condition);
    const [yes, no] = [whenTrue, whenFalse].map((schema) => (schema === undefined ? null : context.node(schema)));
    return (value, run, place, evaluated) => {
      const next = run.fits(node, value, place, evaluated) ? yes : no;
      return !next || run.within(next, value, place, evaluated);
    };
  },
  dependentSchemas: (schemas, context) => dependent(entriesOf("dependentSchemas", schemas, context), context),
  // from drafts before 2019-09: `dependentSchemas` and `dependentRequired` in one keyword
  dependencies: (schemas, context) => {
    const entries = entriesOf("dependencies", schemas, context);
    return dependent(
      entries.map(([key, wanted]) => [key, isNames(wanted) ? { required: wanted } : wanted]),
      context,
    );
  },
};

function listOf(keyword: string, schemas: Json, context: KeywordContext): readonly SchemaNode[] | null {
  if (Array.isArray(schemas)) return schemas.map((schema) => context.node(schema as Json));
  context.mistake(keyword, "must be a list of schemas");
  return null;
}

/** Checks a value against each of the schemas, and whether the number of schemas that it fits is right. */
function counted(
  nodes: readonly SchemaNode[],
  value: Json,
  run: CheckRun,
  place: InstanceLocation | null,
  evaluated: Evaluated,
  isRight: (count: number) => boolean,
  message: string,
): boolean {
  const before = run.issues.length;
  const count = nodes.filter((node) => run.within(node, value, place, evaluated)).length;
  const inner = run.issues.splice(before);
  if (isRight(count)) return true;
  run.report(place, count > 0 ? `${message}, but fits ${count}` : message);
  // if the value fits none of the schemas, the reasons are reported too
  if (count === 0) for (const issue of inner.slice(0, maxInner)) run.issues.push(issue);
  return false;
}

/** The most reasons that are given if a value fits none of the schemas. */
const maxInner = 20;

function dependent(entries: readonly (readonly [string, Json])[], context: KeywordContext): Check {
  const nodes = entries.map(([key, schema]) => [key, context.node(schema)] as const);
  return ofObject((value, run, place, evaluated) => {
    run.spend(nodes.length);
    return allOf(nodes, ([key, node]) => !Object.hasOwn(value, key) || run.within(node, value, place, evaluated));
  });
}

/**
 * The check of `$dynamicRef`. Of the resources (schemas with their own ids) that led here, the outermost one that has the same dynamic
 * anchor gives the schema. If the target of the reference is not a dynamic anchor, it works like `$ref`.
 */
function dynamicRefKeyword(reference: Json, context: KeywordContext): Check | null {
  const node = context.reference("$dynamicRef", reference);
  if (!node) return null;
  const anchor = String(reference).split("#")[1] ?? "";
  const isDynamic = node.resource.dynamicAnchors.get(anchor) === node;
  return (value, run, place, evaluated) => {
    run.spend(isDynamic ? run.scope.length : 0);
    const target = isDynamic ? run.scope.find(({ dynamicAnchors }) => dynamicAnchors.has(anchor))?.dynamicAnchors.get(anchor) : node;
    return run.within(target ?? node, value, place, evaluated);
  };
}

/** Whether a schema has a keyword about the members or items that no other keyword has evaluated. */
export function readsEvaluated(schema: Json): boolean {
  return isJsonObject(schema) && (schema.unevaluatedProperties !== undefined || schema.unevaluatedItems !== undefined);
}
