import type { Json } from "stepfold";
import { isJsonObject } from "stepfold/core";

/**
 * Makes a value after a JSON Schema, as a template for a person, who may have to correct it: patterns, lengths, references and most bounds
 * are not considered. Its objects have only the required members.
 */
export function samplePayload(schema: unknown, depth = 0): Json {
  if (!isSchema(schema) || depth > 8) return null;
  const { const: fixed, default: preset, enum: choices, examples } = schema;
  for (const given of [fixed, preset, first(examples), first(choices)]) if (given !== undefined) return given as Json;
  const type = first(schema.type) ?? schema.type ?? (schema.properties ? "object" : undefined);
  if (type === "object") return sampleObject(schema, depth);
  if (type === "array")
    return Array.from({ length: Math.min(Number(schema.minItems ?? 0), 3) }, () => samplePayload(schema.items, depth + 1));
  if (type === "boolean") return true;
  if (type === "string") return "…";
  if (type === "number" || type === "integer") return typeof schema.minimum === "number" ? schema.minimum : 1;
  const alternative = first(schema.anyOf) ?? first(schema.oneOf);
  return alternative === undefined ? null : samplePayload(alternative, depth + 1);
}

function sampleObject({ properties, required }: Readonly<Record<string, unknown>>, depth: number): Json {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string" && name !== "__proto__") : [];
  const schemas = isSchema(properties) ? properties : {};
  return Object.fromEntries(
    names.map((name: string) => [name, samplePayload(Object.hasOwn(schemas, name) ? schemas[name] : undefined, depth + 1)]),
  );
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : undefined;
}

function isSchema(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value as Json);
}
