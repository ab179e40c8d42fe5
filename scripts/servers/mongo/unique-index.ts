import type { Document } from "bson";
import { Query } from "mingo";
import { CommandError } from "./command-error.ts";
import { keyOf, valueAt } from "./document.ts";

/** An index as in `createIndexes` and `listIndexes`. */
export interface IndexSpec extends Document {
  readonly name: string;
  readonly key: Readonly<Record<string, unknown>>;
  readonly unique?: boolean;
  readonly sparse?: boolean;
  readonly partialFilterExpression?: Document;
}

/** The owners of values. A document is identified by the key of its `_id`. */
export class UniqueIndex {
  readonly spec: IndexSpec;
  readonly #namespace: string;
  readonly #covers: (document: Document) => boolean;
  readonly #owners = new Map<string, string>();

  constructor(spec: IndexSpec, namespace: string) {
    this.spec = spec;
    this.#namespace = namespace;
    const partial = spec.partialFilterExpression ? new Query(spec.partialFilterExpression) : undefined;
    this.#covers = (document) =>
      (!partial || partial.test(document)) && (!spec.sparse || this.#values(document).some((value) => value !== undefined));
  }

  /**
   * Checks that no other document has the values of this document.
   * @throws CommandError 11000 if another document has them
   */
  check(id: string, document: Document): void {
    const owner = this.#covers(document) ? this.#owners.get(this.#key(document)) : undefined;
    if (owner === undefined || owner === id) return;
    const { name, key } = this.spec;
    const values = this.#values(document);
    const keyValue = Object.fromEntries(Object.keys(key).map((path, index) => [path, values[index] ?? null]));
    const shown = Object.entries(keyValue).map(([path, value]) => `${path}: ${JSON.stringify(value)}`);
    const message = `E11000 duplicate key error collection: ${this.#namespace} index: ${name} dup key: { ${shown.join(", ")} }`;
    throw new CommandError(11000, message, { keyPattern: key, keyValue });
  }

  add(id: string, document: Document): void {
    if (this.#covers(document)) this.#owners.set(this.#key(document), id);
  }

  remove(document: Document): void {
    if (this.#covers(document)) this.#owners.delete(this.#key(document));
  }

  #values(document: Document): unknown[] {
    return Object.keys(this.spec.key).map((path) => valueAt(document, path));
  }

  #key(document: Document): string {
    return keyOf(this.#values(document));
  }
}
