import { isJsonObject, type Json, type JsonObject, type JsonSchema } from "stepfold/core";

/** How a value is entered. `lines`: text of several lines. `json`: as JSON. `group`: an object with fields of its own. */
type FieldKind = "boolean" | "choice" | "text" | "lines" | "number" | "integer" | "json" | "group";

/** One of the values that may be chosen. */
interface Choice {
  readonly label: string;
  readonly value: Json;
}

/** A field of a form. */
export interface SchemaField {
  readonly kind: FieldKind;
  /** JSON pointer of its value. */
  readonly pointer: string;
  /** The name of the member; empty for the whole value. */
  readonly name: string;
  readonly label: string;
  /** What kind of value it is, in a word: `boolean`, `string`, `one of 3`. */
  readonly typeText: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Of a `boolean` or a `choice`; else empty. */
  readonly choices: readonly Choice[];
  /** Of a `group`; else empty. */
  readonly fields: readonly SchemaField[];
}

/** The most fields of a form, the most levels of groups, the most choices of a field, and the longest texts of an author. */
const [maxFields, maxDepth, maxChoices, maxLabel, maxDescription] = [60, 3, 100, 120, 600];
/** Names of members whose text has several lines. */
const longTexts = /^(comment|message|note|notes|reason|description|text|body)$/i;

/**
 * Returns the fields of a form for a JSON Schema, which may be hostile: the work and the number of fields are bounded. One field with the
 * pointer `""` stands for the whole value if it is not an object. Null: the schema cannot be told as fields, and the value is entered as JSON.
 */
export function fieldsOf(schema: JsonSchema | undefined): readonly SchemaField[] | null {
  if (!isJsonObject(schema)) return null;
  const budget = { left: maxFields };
  if (isObjectSchema(schema)) return membersOf(schema, "", 0, budget);
  const field = fieldOf("", schema, { pointer: "", isRequired: true, depth: 0, budget });
  return field.kind === "json" ? null : [field];
}

interface Building {
  readonly pointer: string;
  readonly isRequired: boolean;
  readonly depth: number;
  /** How many fields there may still be. */
  readonly budget: { left: number };
}

function membersOf(schema: JsonObject, pointer: string, depth: number, budget: { left: number }): SchemaField[] | null {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const names = Object.keys(properties);
  if (names.length === 0 || names.length > budget.left) return null;
  budget.left -= names.length;
  // the decision comes before what is said about it
  if (required.has("approved")) names.sort((a, b) => Number(b === "approved") - Number(a === "approved"));
  return names.map((name) => {
    const inner: Building = { pointer: memberPointer(pointer, name), isRequired: required.has(name), depth: depth + 1, budget };
    return fieldOf(name, properties[name]!, inner);
  });
}

function fieldOf(name: string, schema: Json, { pointer, isRequired, depth, budget }: Building): SchemaField {
  const own = isJsonObject(schema) ? schema : {};
  const about = { pointer, name, isRequired, label: textOf(own.title, maxLabel) || cut(name, maxLabel), description: descriptionOf(own) };
  const plain = { choices: [], fields: [] };
  const choices = choicesOf(own);
  if (choices) return { ...about, ...plain, kind: "choice", choices, typeText: `one of ${choices.length}` };
  const type = typeOf(own);
  if (type === "boolean") return { ...about, ...plain, kind: "boolean", choices: yesOrNo(name), typeText: type };
  if (type === "number" || type === "integer") return { ...about, ...plain, kind: type, typeText: type };
  if (type === "string")
    return { ...about, ...plain, kind: longTexts.test(name) ? "lines" : "text", typeText: textOf(own.format, 30) || type };
  const fields = isObjectSchema(own) && depth < maxDepth ? membersOf(own, pointer, depth, budget) : null;
  if (fields) return { ...about, ...plain, kind: "group", fields, typeText: "object" };
  return { ...about, ...plain, kind: "json", typeText: type === null ? "JSON" : `${type}, as JSON` };
}

function isObjectSchema(schema: JsonObject): boolean {
  return typeOf(schema) === "object" || (schema.type === undefined && isJsonObject(schema.properties));
}

/** The only type besides `null`; null if there are several, or none is named. */
function typeOf({ type }: JsonObject): string | null {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null");
  return types.length === 1 && typeof types[0] === "string" ? cut(types[0], 30) : null;
}

/** The values of an `enum`, a `const`, or a `oneOf` of constants with titles; null if there is none of these, or too many. */
function choicesOf({ enum: values, const: only, oneOf }: JsonObject): Choice[] | null {
  if (Array.isArray(values)) return bounded(values.map((value) => ({ label: labelOf(value), value })));
  if (only !== undefined) return [{ label: labelOf(only), value: only }];
  if (!Array.isArray(oneOf) || oneOf.length > maxChoices) return null;
  const choices = oneOf.flatMap((one): Choice[] => {
    if (!isJsonObject(one) || one.const === undefined) return [];
    return [{ label: textOf(one.title, maxLabel) || labelOf(one.const), value: one.const }];
  });
  return choices.length === oneOf.length ? bounded(choices) : null;
}

function bounded(choices: Choice[]): Choice[] | null {
  return choices.length > 0 && choices.length <= maxChoices ? choices : null;
}

function labelOf(value: Json): string {
  return cut(typeof value === "string" && value !== "" ? value : JSON.stringify(value), maxLabel);
}

function yesOrNo(name: string): Choice[] {
  const [yes, no] = name === "approved" ? ["Approve", "Reject"] : ["Yes", "No"];
  return [
    { label: yes, value: true },
    { label: no, value: false },
  ];
}

/** What the author says about the value, and what holds for it. */
function descriptionOf(schema: JsonObject): string {
  const bounds = [
    boundText(schema.minimum, "at least"),
    boundText(schema.maximum, "at most"),
    schema.default === undefined ? "" : `default ${cut(JSON.stringify(schema.default), 60)}`,
  ].filter(Boolean);
  return [textOf(schema.description, maxDescription), bounds.join(", ")].filter(Boolean).join(" · ");
}

function boundText(bound: Json | undefined, word: string): string {
  return typeof bound === "number" ? `${word} ${bound}` : "";
}

function textOf(text: Json | undefined, length: number): string {
  return typeof text === "string" ? cut(text.trim(), length) : "";
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** The pointer of a member of a value. */
function memberPointer(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
