import { isJsonObject, type Json } from "stepfold/core";
import type { SchemaField } from "./schema-fields.ts";

/** What was entered, by the pointer of the field: the text, or the index of the choice. What was not entered is absent or empty. */
export type FieldInputs = ReadonlyMap<string, string>;

/** The value of a form, or what is wrong with its fields, by pointer. */
export type ReadForm =
  | { readonly value: Json | undefined; readonly issues: null }
  | { readonly value?: undefined; readonly issues: ReadonlyMap<string, string> };

/** Reads the value of a form. Only what cannot be a value at all is an issue: the server checks the rest. */
export function readFields(fields: readonly SchemaField[], inputs: FieldInputs): ReadForm {
  const issues = new Map<string, string>();
  const [only] = fields;
  const value = only?.pointer === "" ? readField(only, inputs, issues) : readMembers(fields, inputs, issues);
  return issues.size > 0 ? { issues } : { value, issues: null };
}

/** Reads a value that was entered as JSON; empty text is no value. */
export function readJson(text: string): ReadForm {
  if (text.trim() === "") return { value: undefined, issues: null };
  const parsed = parse(text);
  return parsed.reason === undefined ? { value: parsed.value, issues: null } : { issues: new Map([["", parsed.reason]]) };
}

function readMembers(fields: readonly SchemaField[], inputs: FieldInputs, issues: Map<string, string>): Json {
  const members = fields.flatMap((field): [string, Json][] => {
    const value = readField(field, inputs, issues);
    return value === undefined ? [] : [[field.name, value]];
  });
  return Object.fromEntries(members);
}

function readField(field: SchemaField, inputs: FieldInputs, issues: Map<string, string>): Json | undefined {
  const { kind, pointer, isRequired, choices } = field;
  if (kind === "group") {
    const isEmpty = !hasInput(field, inputs);
    return isEmpty && !isRequired ? undefined : readMembers(field.fields, inputs, issues);
  }
  const text = inputs.get(pointer) ?? "";
  if (text.trim() === "") {
    if (isRequired) issues.set(pointer, choices.length > 0 ? "Choose one" : "This is needed");
    return undefined;
  }
  if (kind === "boolean" || kind === "choice") return choices[Number(text)]?.value;
  if (kind === "text" || kind === "lines") return text;
  if (kind === "json") {
    const parsed = parse(text);
    if (parsed.reason !== undefined) issues.set(pointer, parsed.reason);
    return parsed.value;
  }
  return readNumber(text, kind === "integer", pointer, issues);
}

function readNumber(text: string, isInteger: boolean, pointer: string, issues: Map<string, string>): number | undefined {
  const number = Number(text.trim());
  if (Number.isFinite(number) && (!isInteger || Number.isInteger(number))) return number;
  issues.set(pointer, isInteger ? "Must be a whole number" : "Must be a number, such as 12.5");
  return undefined;
}

function hasInput({ pointer, fields }: SchemaField, inputs: FieldInputs): boolean {
  return (inputs.get(pointer) ?? "").trim() !== "" || fields.some((field) => hasInput(field, inputs));
}

function parse(text: string): { readonly value?: Json; readonly reason?: string } {
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return { reason: `Is not JSON: ${error instanceof Error ? error.message : ""}` };
  }
}

/** Returns what has to be entered for a value; null if the fields cannot hold all of it. */
export function inputsFor(fields: readonly SchemaField[], value: Json | undefined): Map<string, string> | null {
  const inputs = new Map<string, string>();
  if (value === undefined) return inputs;
  const [only] = fields;
  if (only?.pointer === "") return fill(only, value, inputs) ? inputs : null;
  return fillMembers(fields, value, inputs) ? inputs : null;
}

function fillMembers(fields: readonly SchemaField[], value: Json, inputs: Map<string, string>): boolean {
  if (!isJsonObject(value)) return false;
  const byName = new Map(fields.map((field) => [field.name, field]));
  return Object.entries(value).every(([name, member]) => {
    const field = byName.get(name);
    return field !== undefined && fill(field, member, inputs);
  });
}

function fill({ kind, pointer, choices, fields }: SchemaField, value: Json, inputs: Map<string, string>): boolean {
  if (kind === "group") return fillMembers(fields, value, inputs);
  const text = textFor(kind, choices, value);
  if (text !== null) inputs.set(pointer, text);
  return text !== null;
}

function textFor(kind: SchemaField["kind"], choices: SchemaField["choices"], value: Json): string | null {
  if (kind === "json") return JSON.stringify(value, null, 2);
  if (kind === "text" || kind === "lines") return typeof value === "string" ? value : null;
  if (kind === "number" || kind === "integer") return typeof value === "number" ? String(value) : null;
  const wanted = JSON.stringify(value);
  const index = choices.findIndex((choice) => JSON.stringify(choice.value) === wanted);
  return index < 0 ? null : String(index);
}
