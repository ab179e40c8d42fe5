import { takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { MongoDatabase } from "../databases/mongo/mongo-client.ts";
import { answerLimitMs } from "./answer-limit.ts";
import type { Site } from "./site.ts";

type Database = MongoDatabase & {
  listCollections(filter: object, options: { nameOnly: true }): { toArray(): Promise<{ name: string }[]> };
  dropCollection(name: string): Promise<unknown>;
};

interface Driver {
  readonly MongoClient: new (url: string, limits: Readonly<Record<string, number>>) => { db(): Database; close(): Promise<void> };
}

/** Connects to `mongodb://host/database?prefix=stepfold_` with `mongodb`. */
export async function connectMongo(text: string, answerMs: number = answerLimitMs): Promise<Site> {
  const { url, taken } = takeParameters(text, { prefix: "stepfold_" });
  const { collectionsOf } = await import("../databases/mongo/mongo-schema.ts");
  const { mongoStore } = await import("../databases/mongo/mongo-store.ts");
  const { MongoClient } = await importDriver<Driver>("mongodb", "mongodb");
  const client = new MongoClient(url, limitsOf(url, answerMs));
  const db = client.db();
  return {
    name: "mongodb",
    space: taken.prefix,
    hasSpaces: true,
    open: async (space, options) => mongoStore(db, { ...options, prefix: space }),
    async drop(space) {
      // compares whole names, because the name of another space may begin like this one
      const own = Object.keys(collectionsOf(db, space)).map((name) => space + name);
      for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
        if (own.includes(name)) await db.dropCollection(name);
      }
    },
    migrations: async () => null,
    close: () => client.close(),
  };
}

/** Returns time limits for the driver, whose default limits are much longer, or none. Limits in the URL are kept. */
function limitsOf(url: string, answerMs: number): Readonly<Record<string, number>> {
  const limits = {
    socketTimeoutMS: answerMs,
    serverSelectionTimeoutMS: answerMs / 2,
    connectTimeoutMS: answerMs / 2,
    waitQueueTimeoutMS: answerMs,
  };
  const given = new URLSearchParams(url.slice(url.indexOf("?") + 1));
  const names = new Set([...given.keys()].map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(limits).filter(([name]) => !names.has(name.toLowerCase())));
}
