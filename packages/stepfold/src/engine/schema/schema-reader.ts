import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/values/json.ts";
import { shortPointerOf } from "../../core/values/pointer.ts";
import type { Resource, SchemaNode } from "./check-run.ts";

/** The keywords that contain subschemas. `schema`: the value is one; `list`: a list of them; `map`: an object whose members are schemas. */
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

/** The URI of the whole schema. */
const wholeUri = "json-schema:///";
/** The longest id of a schema. Every reference is resolved against the id around it. */
const maxIdLength = 2_000;
/** The deepest nesting of schemas that is allowed. */
const maxDepth = 200;

/**
 * A schema that was found, the resource that it belongs to, and the keys that lead to it. `trail` is null for the whole schema, for `true`
 * and `false`, and for a schema that was found only when `nodeOf` was called with it; pointers in such a schema begin at that schema.
 */
interface ScannedSchema {
  readonly schema: JsonSchemaValue;
  readonly resource: ScannedResource;
  readonly trail: Trail | null;
}

type JsonSchemaValue = boolean | JsonObject;

/** The keys that lead to a subschema, as a linked list: the last keys, such as `["allOf", 0]`, and the trail of the schema around it. */
interface Trail {
  readonly around: Trail | null;
  readonly keys: readonly (string | number)[];
  readonly depth: number;
}

/** A resource while its schema is read: a schema with an `$id` of its own (or the whole schema), up to the subschemas with other ids. */
export interface ScannedResource extends Resource {
  readonly schema: JsonObject | boolean;
  readonly anchors: Map<string, JsonObject>;
}

/**
 * Finds the subschemas of a schema by their ids, anchors and pointers. Each schema that is used gets one node, whose checks the caller
 * fills in (see `pendingSchemas`). No object is read twice.
 */
export class SchemaReader {
  readonly mistakes: SchemaIssue[] = [];
  readonly #resources = new Map<string, ScannedResource>();
  /** Every schema that was scanned, except `true` and `false`. */
  readonly #places = new Map<JsonObject, ScannedSchema>();
  readonly #nodes = new Map<JsonSchemaValue, SchemaNode>();
  /** All nodes that were made so far, in the order in which their checks are compiled. */
  readonly #queue: { readonly found: ScannedSchema; readonly node: SchemaNode }[] = [];
  readonly root: SchemaNode;

  constructor(schema: JsonSchemaValue) {
    const whole: ScannedResource = { uri: wholeUri, schema, anchors: new Map(), dynamicAnchors: new Map() };
    this.#resources.set(wholeUri, whole);
    this.#scan({ schema, resource: whole, trail: null });
    this.root = this.nodeOf(schema, whole);
  }

  /** Returns the node of a schema. Its checks are added later, when `pendingSchemas` yields it. */
  nodeOf(schema: JsonSchemaValue, around: ScannedResource): SchemaNode {
    // `true` and `false` have no identity, so each use of them gets a node of its own, in the resource around it
    const known = this.#nodes.get(schema);
    if (known && typeof schema === "object") return known;
    if (typeof schema === "object" && !this.#places.has(schema)) this.#scan({ schema, resource: around, trail: null });
    const found = typeof schema === "object" ? this.#places.get(schema)! : { schema, resource: around, trail: null };
    const node: SchemaNode = { checks: [], resource: found.resource };
    if (typeof schema === "object") this.#nodes.set(schema, node);
    this.#queue.push({ found, node });
    return node;
  }

  /** Yields every schema whose checks have to be compiled, also those that are added meanwhile. */
  *pendingSchemas(): Generator<
    { readonly schema: JsonSchemaValue; readonly resource: ScannedResource; readonly node: SchemaNode; readonly pointer: () => string },
    void
  > {
    // the queue grows while the loop runs
    for (const { found, node } of this.#queue)
      yield { schema: found.schema, resource: found.resource, node, pointer: () => pointerTo(found.trail) };
  }

  /** Returns the node that a reference leads to; null if there is none in this schema, because other documents are never loaded. */
  resolve(reference: string, from: ScannedResource): SchemaNode | null {
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

  /** Finds the subschemas of a schema. It uses a list instead of recursion, so that no nesting can overflow the call stack. */
  #scan(first: ScannedSchema): void {
    const queue = [first];
    for (let next = queue.pop(); next; next = queue.pop()) {
      const { schema, trail } = next;
      if (typeof schema === "boolean" || this.#places.has(schema)) continue;
      if ((trail?.depth ?? 0) > maxDepth) {
        // such a schema is refused, so the rest of it is not scanned
        this.mistakes.push({ pointer: "", message: `nests schemas deeper than ${maxDepth} levels` });
        return;
      }
      const found = { ...next, resource: this.#entered(schema, next) };
      this.#places.set(schema, found);
      for (const [keys, inner] of schemasIn(schema)) {
        if (isSchema(inner))
          queue.push({ schema: inner, resource: found.resource, trail: { around: trail, keys, depth: (trail?.depth ?? 0) + 1 } });
        else
          this.mistakes.push({ pointer: pointerTo(trail) + shortPointerOf(keys), message: "must be a schema: an object, true or false" });
      }
    }
  }

  /**
   * Returns the resource that a schema belongs to, which is a new one if the schema has an id, and adds the anchors of the schema to it.
   */
  #entered(schema: JsonObject, { resource: around, trail }: ScannedSchema): ScannedResource {
    let resource = around;
    const { $id, $anchor, $dynamicAnchor } = schema;
    if (typeof $id === "string") {
      const url = resolved($id, around.uri);
      if (url && url.href.length > maxIdLength)
        this.mistakes.push({ pointer: `${pointerTo(trail)}/$id`, message: `must have at most ${maxIdLength} characters` });
      else if (url && url.hash === "") {
        // older drafts write ids with an empty fragment: `https://example.com/order#`
        const uri = url.href.replace(/#$/, "");
        resource = { uri, schema, anchors: new Map(), dynamicAnchors: new Map() };
        if (this.#resources.has(uri)) this.mistakes.push({ pointer: `${pointerTo(trail)}/$id`, message: "is the id of two schemas" });
        this.#resources.set(uri, resource);
        // the whole schema stays reachable by `wholeUri`
        if (schema === around.schema) this.#resources.set(wholeUri, resource);
      } else this.mistakes.push({ pointer: `${pointerTo(trail)}/$id`, message: "must be a URI without a fragment" });
    }
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === "string") resource.anchors.set(anchor, schema);
    if (typeof $dynamicAnchor === "string") {
      // without its entry in `#places`, which `#scan` sets only later, `nodeOf` would scan the schema again
      this.#places.set(schema, { schema, resource, trail });
      resource.dynamicAnchors.set($dynamicAnchor, this.nodeOf(schema, resource));
    }
    return resource;
  }
}

/** True for a value that can be a schema: an object or a boolean. */
export function isSchema(value: unknown): value is JsonSchemaValue {
  return typeof value === "boolean" || isJsonObject(value);
}

/** Yields the subschemas of a schema, each with the keys that lead to it. */
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

/** Returns the value at a JSON pointer; undefined if there is none. */
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
  for (let at = trail; at; at = at.around) parts.push(shortPointerOf(at.keys));
  return parts.reverse().join("");
}
