import type { MongoCollection, MongoDatabase } from "../../../src/stores/databases/mongo/mongo-client.ts";

type Method = Exclude<keyof MongoCollection, "collectionName">;

/** One call of the store to its database. */
export interface Call {
  readonly collection: string;
  readonly method: Method;
  /** The first argument: a filter, a pipeline or a list of writes. */
  readonly first: unknown;
}

/** Returns functions that run before and after a call and may throw, or undefined. */
export type Around = (call: Call) => { readonly before?: () => unknown; readonly after?: () => unknown } | undefined;

/** The database, which asks `around` at every call. */
export function observed(db: MongoDatabase, around: Around): MongoDatabase {
  return {
    command: (command) => db.command(command),
    collection(name) {
      const collection = db.collection(name);
      const watch = (method: Method) => {
        return async (...given: [never, never, never]) => {
          const { before, after } = around({ collection: name, method, first: given[0] }) ?? {};
          await before?.();
          const result: unknown = await (collection[method] as (...all: unknown[]) => unknown)(...given);
          await after?.();
          return result;
        };
      };
      const list = (method: "find" | "aggregate") => {
        return (...given: [never, never]) => {
          const { before, after } = around({ collection: name, method, first: given[0] }) ?? {};
          const toArray = async () => {
            await before?.();
            const result = await collection[method](...given).toArray();
            await after?.();
            return result;
          };
          return { toArray };
        };
      };
      const single = ["findOne", "updateOne", "findOneAndUpdate", "deleteMany", "createIndex"] as const;
      const methods = Object.fromEntries(single.map((method) => [method, watch(method)]));
      const { collectionName } = collection;
      return { collectionName, ...methods, find: list("find"), aggregate: list("aggregate") } as unknown as MongoCollection;
    },
  };
}
