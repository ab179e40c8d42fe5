import { Collection } from "./collection.ts";
import { CommandError } from "./command-error.ts";

/** Every collection of every database. */
export class Catalog {
  readonly #collections = new Map<string, Collection>();

  /** Returns the collection for a write, and creates it if needed, as MongoDB does at the first write. */
  open(database: string, name: string): Collection {
    const namespace = `${database}.${name}`;
    let found = this.#collections.get(namespace);
    if (!found) {
      found = new Collection(namespace);
      this.#collections.set(namespace, found);
    }
    return found;
  }

  /** Returns the collection for a read. A collection that does not exist is empty, and is not created. */
  read(database: string, name: string): Collection {
    const namespace = `${database}.${name}`;
    return this.#collections.get(namespace) ?? new Collection(namespace);
  }

  /**
   * Returns a collection that must exist.
   * @throws CommandError 26
   */
  existing(database: string, name: string): Collection {
    const found = this.#collections.get(`${database}.${name}`);
    if (!found) throw new CommandError(26, `ns does not exist: ${database}.${name}`);
    return found;
  }

  has(database: string, name: string): boolean {
    return this.#collections.has(`${database}.${name}`);
  }

  drop(database: string, name: string): void {
    this.#collections.delete(`${database}.${name}`);
  }

  /** Returns the names of a database's collections. */
  names(database: string): string[] {
    const prefix = `${database}.`;
    return [...this.#collections.keys()]
      .filter((namespace) => namespace.startsWith(prefix))
      .map((namespace) => namespace.slice(prefix.length));
  }

  get databases(): string[] {
    return [...new Set([...this.#collections.keys()].map((namespace) => namespace.slice(0, namespace.indexOf("."))))];
  }
}
