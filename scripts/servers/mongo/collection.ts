import { type Document, ObjectId } from "bson";
import { Query } from "mingo";
import { CommandError } from "./command-error.ts";
import { keyOf } from "./document.ts";
import { type IndexSpec, UniqueIndex } from "./unique-index.ts";

/**
 * Documents in the order of their insertion. A stored document is never changed but only replaced, so an answer or a cursor may refer
 * to it. Every write is checked against all unique indexes before anything changes.
 */
export class Collection {
  readonly namespace: string;
  readonly #documents = new Map<string, Document>();
  readonly #specs = new Map<string, IndexSpec>();
  readonly #unique = new Map<string, UniqueIndex>();

  constructor(namespace: string) {
    this.namespace = namespace;
    this.createIndex({ v: 2, key: { _id: 1 }, name: "_id_", unique: true });
  }

  get indexes(): IndexSpec[] {
    // MongoDB does not report that the index of _id is unique.
    return [...this.#specs.values()].map((spec) => (spec.name === "_id_" ? { v: 2, key: spec.key, name: spec.name } : spec));
  }

  find(filter: Document): Document[] {
    const query = new Query(filter);
    const { _id: id } = filter;
    if (typeof id !== "string" && !(id instanceof ObjectId)) return [...this.#documents.values()].filter((one) => query.test(one));
    const found = this.#documents.get(keyOf([id]));
    return found && query.test(found) ? [found] : [];
  }

  insert(document: Document): void {
    this.#put(keyOf([document._id]), undefined, document);
  }

  /** Replaces `before` with `after`, which has the same `_id`. */
  replace(before: Document, after: Document): void {
    this.#put(keyOf([before._id]), before, after);
  }

  remove(document: Document): void {
    this.#documents.delete(keyOf([document._id]));
    for (const index of this.#unique.values()) index.remove(document);
  }

  /** Creates an index. Returns true if it is new. */
  createIndex(spec: IndexSpec): boolean {
    const existing = this.#specs.get(spec.name);
    if (existing) {
      if (spec.name === "_id_" || keyOf([existing]) === keyOf([spec])) return false;
      throw new CommandError(86, `An existing index has the same name as the requested index: ${spec.name}`);
    }
    if (spec.unique) {
      const index = new UniqueIndex(spec, this.namespace);
      for (const [id, document] of this.#documents) {
        index.check(id, document);
        index.add(id, document);
      }
      this.#unique.set(spec.name, index);
    }
    this.#specs.set(spec.name, spec);
    return true;
  }

  dropIndex(name: string): void {
    if (name === "_id_" || !this.#specs.delete(name)) throw new CommandError(27, `index not found with name [${name}]`);
    this.#unique.delete(name);
  }

  #put(id: string, before: Document | undefined, after: Document): void {
    for (const index of this.#unique.values()) index.check(before ? id : newcomer, after);
    for (const index of this.#unique.values()) {
      if (before) index.remove(before);
      index.add(id, after);
    }
    this.#documents.set(id, after);
  }
}

/** The owner key of a document that is being inserted. It owns no values yet, so an existing document with its `_id` is a conflict. */
const newcomer = "";
