import { Collection } from "./collection.ts";
import { CommandError } from "./command-error.ts";

/** Every collection of every database. */
export class Catalog {
  readonly #collections = new Map<string, Collection>();

  /** The collection, created if need be: MongoDB creates it at the first write. */
  open(database: string, name: string): Collection {
    const namespace = `${database}.${name}`;
    let found = this.#collections.get(namespace);
    if (!found) {
      found = new Collection(namespace);
      this.#collections.set(namespace, found);
    }
    return found;
  }

  /** For readers: a collection that does not exist is empty, and stays away. */
  read(database: string, name: string): Collection {
    const namespace = `${database}.${name}`;
    return this.#collections.get(namespace) ?? new Collection(namespace);
  }

  /** @throws CommandError 26 */
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

  /** The names of a database's collections. */
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
