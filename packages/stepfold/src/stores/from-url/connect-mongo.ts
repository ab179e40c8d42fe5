import type { MongoDatabase } from "../mongo/mongo-client.ts";
import { importDriver } from "./import-driver.ts";
import type { Site } from "./site.ts";

type Database = MongoDatabase & {
  listCollections(filter: object, options: { nameOnly: true }): { toArray(): Promise<{ name: string }[]> };
  dropCollection(name: string): Promise<unknown>;
};

interface Driver {
  readonly MongoClient: new (url: string) => { db(): Database; close(): Promise<void> };
}

/** `mongodb://host/database?prefix=stepfold_`, with `mongodb`. */
export async function connectMongo(text: string): Promise<Site> {
  const prefix = new URL(text.replace(/^mongodb(\+srv)?:/, "http:")).searchParams.get("prefix") ?? "stepfold_";
  // hosts may be several, which no URL can be made of again
  const url = text.replace(/([?&])prefix=[^&]*&?/, "$1").replace(/[?&]$/, "");
  const { mongoStore } = await import("../mongo/mongo-store.ts");
  const { MongoClient } = await importDriver<Driver>("mongodb", "mongodb");
  const client = new MongoClient(url);
  const db = client.db();
  return {
    name: "mongodb",
    space: prefix,
    hasSpaces: true,
    open: async (space, options) => mongoStore(db, { ...options, prefix: space }),
    async drop(space) {
      for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
        if (name.startsWith(space)) await db.dropCollection(name);
      }
    },
    migrations: async () => null,
    close: () => client.close(),
  };
}
