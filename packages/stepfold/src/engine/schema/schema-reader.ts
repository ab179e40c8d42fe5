import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/values/json.ts";
import { pointerOf } from "../../core/values/pointer.ts";
import type { Resource, SchemaNode } from "./check-run.ts";

/** Where schemas lie in a schema: under the key itself, in a list, or in a map. */
const subschemaKeywords: Readonly<Record<string, readonly ("schema" | "list" | "map")[]>> = {
  ...Object.fromEntries(
    ["additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties", "propertyNames"].map((key) => [
      key,
      ["schema"],
    ]),
  ),
  ...Object.fromEntries(["not", "if", "then", "else"].map((key) => [key, ["schema"]])),
  ...Object.fromEntries(["prefixItems", "allOf", "anyOf", "oneOf"].map((key) => [key, ["list"]])),
  ...Object.fromEntries(
    ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"].map((key) => [key, ["map"]]),
  ),
  items: ["schema", "list"],
};

const wholeUri = "json-schema:///";
/** Schemas inside each other. */
const maxDepth = 200;

interface ScannedSchema {
  readonly schema: JsonSchemaValue;
  readonly resource: OpenResource;
  readonly trail: Trail | null;
}

type JsonSchemaValue = boolean | JsonObject;

interface Trail {
  readonly around: Trail | null;
  readonly keys: readonly (string | number)[];
  readonly depth: number;
}

/** A resource while its schema is read. */
export interface OpenResource extends Resource {
  readonly schema: JsonObject | boolean;
  readonly anchors: Map<string, JsonObject>;
}

/** Finds the schemas of a schema by their ids, anchors and places, and gives each its node. Every part is read once. */
export class SchemaReader {
  readonly mistakes: SchemaIssue[] = [];
  readonly #resources = new Map<string, OpenResource>();
  readonly #places = new Map<JsonObject, ScannedSchema>();
  readonly #nodes = new Map<JsonSchemaValue, SchemaNode>();
  readonly #queue: { readonly found: ScannedSchema; readonly node: SchemaNode }[] = [];
  readonly root: SchemaNode;

  constructor(schema: JsonSchemaValue) {
    const whole: OpenResource = { uri: wholeUri, schema, anchors: new Map(), dynamicAnchors: new Map() };
    this.#resources.set(wholeUri, whole);
    this.#scan({ schema, resource: whole, trail: null });
    this.root = this.nodeOf(schema, whole);
  }

  /** The node of a schema. Its checks are made later, when it is taken from the queue. */
  nodeOf(schema: JsonSchemaValue, around: OpenResource): SchemaNode {
    const known = this.#nodes.get(schema);
    if (known && typeof schema === "object") return known;
    if (typeof schema === "object" && !this.#places.has(schema)) this.#scan({ schema, resource: around, trail: null });
    const found = typeof schema === "object" ? this.#places.get(schema)! : { schema, resource: around, trail: null };
    const node: SchemaNode = { checks: [], resource: found.resource };
    if (typeof schema === "object") this.#nodes.set(schema, node);
    this.#queue.push({ found, node });
    return node;
  }

  /** Schemas whose checks are still to be made. */
  *open(): Generator<
    { readonly schema: JsonSchemaValue; readonly resource: OpenResource; readonly node: SchemaNode; readonly pointer: string },
    void
  > {
    // grows while it is gone through
    for (const { found, node } of this.#queue)
      yield { schema: found.schema, resource: found.resource, node, pointer: pointerTo(found.trail) };
  }

  /** What a reference leads to; null if that is nothing here. Nothing is ever fetched. */
  resolve(reference: string, from: OpenResource): SchemaNode | null {
    const url = resolved(reference, from.uri);
    if (!url) return null;
    const fragment = decoded(url.hash.slice(1));
    url.hash = "";
    const resource = this.#resources.get(url.href);
    if (!resource || fragment === null) return null;
    if (fragment === "") return this.nodeOf(resource.schema, resource);
    const target = fragment.startsWith("/") ? memberAt(resource.schema, fragment) : resource.anchors.get(fragment);
    return isSchema(target) ? this.nodeOf(target, resource) : null;
  }

  #scan(first: ScannedSchema): void {
    const queue = [first];
    for (let next = queue.pop(); next; next = queue.pop()) {
      const { schema, trail } = next;
      if (typeof schema === "boolean" || this.#places.has(schema)) continue;
      if ((trail?.depth ?? 0) > maxDepth) {
        this.mistakes.push({ pointer: "", message: `nests schemas deeper than ${maxDepth} levels` });
        return;
      }
      const found = { ...next, resource: this.#entered(schema, next) };
      this.#places.set(schema, found);
      for (const [keys, inner] of schemasIn(schema)) {
        if (isSchema(inner))
          queue.push({ schema: inner, resource: found.resource, trail: { around: trail, keys, depth: (trail?.depth ?? 0) + 1 } });
        else this.mistakes.push({ pointer: pointerTo(trail) + pointerOf(keys), message: "must be a schema: an object, true or false" });
      }
    }
  }

  /** The resource that a schema belongs to: one of its own if it has an id. */
  #entered(schema: JsonObject, { resource: around, trail }: ScannedSchema): OpenResource {
    let resource = around;
    const { $id, $anchor, $dynamicAnchor } = schema;
    if (typeof $id === "string") {
      const url = resolved($id, around.uri);
      if (url && url.hash === "") {
        resource = { uri: url.href, schema, anchors: new Map(), dynamicAnchors: new Map() };
        if (this.#resources.has(url.href)) this.mistakes.push({ pointer: `${pointerTo(trail)}/$id`, message: "is the id of two schemas" });
        this.#resources.set(url.href, resource);
        // the whole is also found by no id at all
        if (schema === around.schema) this.#resources.set(wholeUri, resource);
      } else this.mistakes.push({ pointer: `${pointerTo(trail)}/$id`, message: "must be a URI without a fragment" });
    }
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === "string") resource.anchors.set(anchor, schema);
    if (typeof $dynamicAnchor === "string") {
      this.#places.set(schema, { schema, resource, trail });
      resource.dynamicAnchors.set($dynamicAnchor, this.nodeOf(schema, resource));
    }
    return resource;
  }
}

/** True for what may stand where a schema is asked for. */
export function isSchema(value: unknown): value is JsonSchemaValue {
  return typeof value === "boolean" || isJsonObject(value);
}

function* schemasIn(schema: JsonObject): Generator<readonly [readonly (string | number)[], Json]> {
  for (const [key, value] of Object.entries(schema)) {
    const places = Object.hasOwn(subschemaKeywords, key) ? subschemaKeywords[key]! : [];
    if (places.includes("list") && Array.isArray(value)) for (const [i, inner] of value.entries()) yield [[key, i], inner];
    else if (places.includes("schema")) yield [[key], value];
    else if (places.includes("map") && isJsonObject(value))
      for (const [name, inner] of Object.entries(value)) if (!(key === "dependencies" && Array.isArray(inner))) yield [[key, name], inner];
  }
}

function resolved(reference: string, base: string): URL | null {
  return URL.canParse(reference, base) ? new URL(reference, base) : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function memberAt(schema: Json, pointer: string): Json | undefined {
  let at: Json | undefined = schema;
  for (const part of pointer.slice(1).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}

function pointerTo(trail: Trail | null): string {
  const parts: string[] = [];
  for (let at = trail; at; at = at.around) parts.push(pointerOf(at.keys));
  return parts.reverse().join("");
}
