import type { Json, JsonSchema } from "stepfold/core";
import { inputsFor, type ReadForm, readFields, readJson } from "../model/value/field-values.ts";
import { fieldsOf, type SchemaField } from "../model/value/schema-fields.ts";
import { randomKey } from "./random-key.ts";

/** A failure that concerns the whole form. */
export interface FormProblem {
  readonly code: string;
  readonly message: string;
}

/** The most issues that are shown, and the longest message. */
const [maxIssues, maxMessage] = [50, 500];

/**
 * What was entered into a form, and what is wrong with it. It outlives the form on the page, so no text is lost. Nothing is entered at the
 * beginning: an answer is never preselected.
 */
export class FormDraft {
  readonly #fields: readonly SchemaField[] | null;
  readonly #newKey: () => string;
  readonly #listeners = new Set<() => void>();
  #inputs = new Map<string, string>();
  #json = "";
  #isJson: boolean;
  #issues: ReadonlyMap<string, string> = new Map();
  #problem: FormProblem | null = null;
  #isBusy = false;
  #revision = 0;
  /** The value that was sent last, as text, with its key. */
  #sent: { readonly text: string; readonly key: string } | null = null;

  constructor(schema: JsonSchema | undefined, newKey: () => string = randomKey) {
    this.#fields = fieldsOf(schema);
    this.#isJson = this.#fields === null;
    this.#newKey = newKey;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly revision = (): number => this.#revision;

  /** The fields; null if the value can only be entered as JSON. */
  get fields(): readonly SchemaField[] | null {
    return this.#fields;
  }
  get isJson(): boolean {
    return this.#isJson;
  }
  get json(): string {
    return this.#json;
  }
  /** What is wrong with a field, by pointer. */
  get issues(): ReadonlyMap<string, string> {
    return this.#issues;
  }
  get problem(): FormProblem | null {
    return this.#problem;
  }
  get isBusy(): boolean {
    return this.#isBusy;
  }
  /** Something was entered. */
  get isTouched(): boolean {
    return this.#isJson ? this.#json.trim() !== "" : [...this.#inputs.values()].some((text) => text !== "");
  }

  input(pointer: string): string {
    return this.#inputs.get(pointer) ?? "";
  }

  /** Enters text into a field, or the index of a choice. What was wrong with the field is not shown any more. */
  put(pointer: string, text: string): void {
    this.#inputs.set(pointer, text);
    this.#forget(pointer);
  }

  putJson(text: string): void {
    this.#json = text;
    this.#forget("");
  }

  /** Shows the value as JSON, or as fields. What was entered is taken over; if the fields cannot hold it, it stays JSON. */
  switchTo(isJson: boolean): void {
    if (this.#fields === null || isJson === this.#isJson) return;
    if (isJson) {
      const { value } = readFields(this.#fields.map(optional), this.#inputs);
      this.#json = value === undefined || !this.isTouched ? "" : JSON.stringify(value, null, 2);
      this.#isJson = true;
      this.#show(new Map(), null);
      return;
    }
    const read = readJson(this.#json);
    const inputs = read.issues ? null : inputsFor(this.#fields, read.value);
    if (inputs) {
      this.#inputs = inputs;
      this.#isJson = false;
    }
    const issues = inputs ? new Map<string, string>() : (read.issues ?? new Map([["", "The fields cannot hold all of this"]]));
    this.#show(issues, null);
  }

  /**
   * Sends the value, once at a time. What is wrong with it is shown; the text stays. The key is the same as long as the value is the same: sent
   * again after the connection was lost, it is still one answer.
   *
   * @returns whether it was sent and accepted
   */
  async send(submit: (value: Json | undefined, key: string) => Promise<void>): Promise<boolean> {
    if (this.#isBusy) return false;
    const read = this.#read();
    if (read.issues) {
      this.#show(read.issues, null);
      return false;
    }
    this.#isBusy = true;
    this.#show(new Map(), null);
    try {
      await submit(read.value, this.#keyFor(read.value));
      return true;
    } catch (error) {
      this.#refuse(error);
      return false;
    } finally {
      this.#isBusy = false;
      this.#touch();
    }
  }

  #read(): ReadForm {
    return this.#isJson || this.#fields === null ? readJson(this.#json) : readFields(this.#fields, this.#inputs);
  }

  #keyFor(value: Json | undefined): string {
    const text = JSON.stringify(value) ?? "";
    if (this.#sent?.text !== text) this.#sent = { text, key: this.#newKey() };
    return this.#sent.key;
  }

  #refuse(error: unknown): void {
    const { issues, code, message } = refusalOf(error);
    const shown = new Map<string, string>();
    const unplaced: string[] = [];
    for (const issue of issues) {
      const pointer = this.#isJson ? null : this.#fieldAt(issue.pointer);
      if (pointer === null) unplaced.push(issue.pointer === "" ? issue.message : `${issue.pointer} ${issue.message}`);
      else if (!shown.has(pointer)) shown.set(pointer, issue.message);
    }
    const isTold = issues.length > 0 && unplaced.length === 0;
    this.#show(shown, isTold ? null : { code, message: unplaced.length > 0 ? unplaced.join("; ") : message });
  }

  /** The innermost field that holds a place of the value; null: none does. */
  #fieldAt(pointer: string): string | null {
    const walk = (fields: readonly SchemaField[]): string | null => {
      for (const field of fields) {
        const isIn = pointer === field.pointer || pointer.startsWith(`${field.pointer}/`);
        if (isIn) return walk(field.fields) ?? field.pointer;
      }
      return null;
    };
    return walk(this.#fields ?? []);
  }

  #forget(pointer: string): void {
    const issues = new Map(this.#issues);
    issues.delete(pointer);
    this.#show(issues, this.#problem);
  }

  #show(issues: ReadonlyMap<string, string>, problem: FormProblem | null): void {
    this.#issues = issues;
    this.#problem = problem;
    this.#touch();
  }

  #touch(): void {
    this.#revision++;
    for (const listener of this.#listeners) listener();
  }
}

function optional(field: SchemaField): SchemaField {
  return { ...field, isRequired: false, fields: field.fields.map(optional) };
}

/** Reads what an answer of the server says about a value. Nothing of it is trusted. */
function refusalOf(error: unknown): { readonly issues: readonly { pointer: string; message: string }[]; code: string; message: string } {
  const { code, message, details } = error as { readonly code?: unknown; readonly message?: unknown; readonly details?: unknown };
  const listed = (details as { readonly issues?: unknown } | undefined)?.issues;
  const issues = (Array.isArray(listed) ? listed.slice(0, maxIssues) : []).flatMap((issue: unknown) => {
    const { pointer, message: text } = (issue ?? {}) as { readonly pointer?: unknown; readonly message?: unknown };
    return typeof pointer === "string" && typeof text === "string" ? [{ pointer, message: text.slice(0, maxMessage) }] : [];
  });
  return {
    issues,
    code: typeof code === "string" ? code : "UNKNOWN",
    message: typeof message === "string" ? message.slice(0, maxMessage) : "",
  };
}
