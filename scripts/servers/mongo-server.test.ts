import { randomUUID } from "node:crypto";
import { type Collection, type Document, Long, MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mongoServer } from "./mongo-server.ts";
import type { StandIn } from "./stand-in.ts";

interface Row extends Document {
  readonly _id: string;
}

let server: StandIn;
let client: MongoClient;
beforeAll(async () => {
  server = await mongoServer();
  client = await MongoClient.connect(server.url);
});
afterAll(async () => {
  await client.close();
  await server.close();
});

function emptyCollection(): Collection<Row> {
  return client.db("test").collection<Row>(`c-${randomUUID()}`);
}

describe("the stand-in for MongoDB", () => {
  it("has one winner among 50 who compare and set", async () => {
    const rows = emptyCollection();
    await rows.insertOne({ _id: "a", version: 1 });
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, writer) => rows.updateOne({ _id: "a", version: 1 }, { $inc: { version: 1 }, $set: { writer } })),
    );
    expect(results.filter(({ modifiedCount }) => modifiedCount === 1)).toHaveLength(1);
    expect(await rows.findOne({ _id: "a" })).toMatchObject({ version: 2 });
  });

  it("lets one of 50 upserts insert", async () => {
    const rows = emptyCollection();
    const results = await Promise.all(
      Array.from({ length: 50 }, () => rows.updateOne({ _id: "a" }, { $inc: { n: 1 }, $setOnInsert: { first: true } }, { upsert: true })),
    );
    expect(results.filter(({ upsertedCount }) => upsertedCount === 1)).toHaveLength(1);
    expect(await rows.findOne()).toEqual({ _id: "a", n: 50, first: true });
    await rows.updateOne({ "deep.key": 1, n: { $gt: 1 } }, { $setOnInsert: { _id: "b" }, $set: { other: 2 } }, { upsert: true });
    expect(await rows.findOne({ _id: "b" })).toEqual({ _id: "b", deep: { key: 1 }, other: 2 });
    const created = await rows.findOneAndUpdate({ _id: "c" }, [{ $set: { n: 1 } }], { upsert: true, returnDocument: "after" });
    expect(created).toEqual({ _id: "c", n: 1 });
  });

  it("refuses duplicates with code 11000, of _id and of unique indexes", async () => {
    const rows = emptyCollection();
    await rows.createIndex({ tenant: 1, key: 1 }, { unique: true, partialFilterExpression: { key: { $exists: true } } });
    await rows.insertMany([
      { _id: "a", tenant: "t", key: "k" },
      { _id: "b", tenant: "t" },
      { _id: "c", tenant: "t" },
    ]);
    await expect(rows.insertOne({ _id: "a" })).rejects.toMatchObject({ code: 11000, keyPattern: { _id: 1 }, keyValue: { _id: "a" } });
    await expect(rows.insertOne({ _id: "d", tenant: "t", key: "k" })).rejects.toMatchObject({
      code: 11000,
      keyPattern: { tenant: 1, key: 1 },
      keyValue: { tenant: "t", key: "k" },
    });
    await expect(rows.updateOne({ _id: "b" }, { $set: { key: "k" } })).rejects.toMatchObject({ code: 11000 });
    await expect(rows.findOneAndUpdate({ _id: "b" }, { $set: { key: "k" } })).rejects.toMatchObject({ code: 11000 });
    await expect(rows.createIndex({ tenant: 1 }, { unique: true })).rejects.toMatchObject({ code: 11000 });
    await rows.deleteOne({ _id: "a" });
    expect(await rows.updateOne({ _id: "b" }, { $set: { key: "k" } })).toMatchObject({ modifiedCount: 1 });
    expect((await rows.listIndexes().toArray()).map(({ name }) => name)).toEqual(["_id_", "tenant_1_key_1"]);
  });

  it("stops an ordered insert at the first error, and an unordered one not", async () => {
    const rows = emptyCollection();
    await rows.insertOne({ _id: "b" });
    const documents = ["a", "b", "c"].map((_id) => ({ _id }));
    await expect(rows.insertMany(documents)).rejects.toMatchObject({ code: 11000, insertedCount: 1 });
    await rows.deleteOne({ _id: "a" });
    await expect(rows.insertMany(documents, { ordered: false })).rejects.toMatchObject({ insertedCount: 2 });
  });

  it("updates by operators, array filters, the positional operator and pipelines", async () => {
    const rows = emptyCollection();
    await rows.insertOne({ _id: "a", n: 1, list: [{ k: 1 }, { k: 2 }] });
    await rows.updateOne({ _id: "a" }, { $set: { "list.$[one].v": "x" } }, { arrayFilters: [{ "one.k": 1 }] });
    await rows.updateOne({ _id: "a", "list.k": 2 }, { $set: { "list.$.v": "y" } });
    await rows.updateOne({ _id: "a" }, [{ $set: { n: { $add: ["$n", 1] }, big: { $gte: ["$n", 1] } } }]);
    expect(await rows.findOne()).toEqual({
      _id: "a",
      n: 2,
      big: true,
      list: [
        { k: 1, v: "x" },
        { k: 2, v: "y" },
      ],
    });
    expect(await rows.replaceOne({ _id: "a" }, { n: 3 })).toMatchObject({ modifiedCount: 1 });
    expect(await rows.updateMany({}, { $set: { n: 3 } })).toMatchObject({ matchedCount: 1, modifiedCount: 0 });
    expect(await rows.findOne()).toEqual({ _id: "a", n: 3 });
    await expect(rows.updateOne({ _id: "a" }, { $set: { _id: "b" } })).rejects.toMatchObject({ code: 66 });
  });

  it("finds, sorts, projects, and pages through a cursor", async () => {
    const rows = emptyCollection();
    await rows.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: `id-${n}`, n, odd: n % 2 })));
    const found = await rows.find({ odd: 1, n: { $lt: 200 } }, { sort: { n: -1 }, projection: { n: 1, _id: 0 }, batchSize: 7 }).toArray();
    expect(found.map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, index) => 199 - 2 * index));
    expect(found[0]).toEqual({ n: 199 });
    expect(await rows.find({}, { sort: { n: 1 }, skip: 10, limit: 2 }).toArray()).toMatchObject([{ n: 10 }, { n: 11 }]);
    expect(await rows.countDocuments({ odd: 0 })).toBe(150);
    expect(await rows.estimatedDocumentCount()).toBe(300);
    const groups = await rows.aggregate([{ $group: { _id: "$odd", sum: { $sum: "$n" } } }, { $sort: { _id: 1 } }]).toArray();
    expect(groups).toEqual([
      { _id: 0, sum: 22_350 },
      { _id: 1, sum: 22_500 },
    ]);
    expect(await rows.deleteMany({ odd: 1 })).toMatchObject({ deletedCount: 150 });
  });

  it("gives one job to each of 50 takers, the oldest first", async () => {
    const jobs = emptyCollection();
    await jobs.insertMany(Array.from({ length: 50 }, (_, n) => ({ _id: `j-${n}`, due: 50 - n, taken: false })));
    const take = (): Promise<Row | null> =>
      jobs.findOneAndUpdate({ taken: false }, { $set: { taken: true } }, { sort: { due: 1 }, returnDocument: "after" });
    const taken = await Promise.all(Array.from({ length: 51 }, take));
    expect(new Set(taken.map((job) => job?._id)).size).toBe(51);
    expect(taken.at(0)).toMatchObject({ _id: "j-49", taken: true });
    expect(taken.filter((job) => job === null)).toHaveLength(1);
    expect(await jobs.findOneAndDelete({ _id: "j-1" })).toMatchObject({ _id: "j-1" });
  });

  it("keeps types: dates, bytes, long integers as numbers, nested values", async () => {
    const rows = emptyCollection();
    const bytes = new Uint8Array([1, 2, 3]);
    await rows.insertOne({ _id: "a", date: new Date(5), bytes, long: Long.fromNumber(2 ** 40), deep: { list: [null, true, 1.5, "ä"] } });
    const found = await rows.findOne({ long: { $gt: Long.fromNumber(1) }, date: { $lt: new Date(6) } }, { promoteBuffers: true });
    expect(found).toMatchObject({ date: new Date(5), long: 2 ** 40, deep: { list: [null, true, 1.5, "ä"] } });
    expect(new Uint8Array(found?.bytes as Buffer)).toEqual(bytes);
  });

  it("refuses documents of more than 16 MB", async () => {
    const rows = emptyCollection();
    await expect(rows.insertOne({ _id: "a", text: "x".repeat(16.5 * 1024 * 1024) })).rejects.toMatchObject({
      code: 10334,
      codeName: "BSONObjectTooLarge",
    });
    await rows.insertOne({ _id: "a", one: "x".repeat(9 * 1024 * 1024) });
    await expect(rows.updateOne({ _id: "a" }, { $set: { two: "x".repeat(9 * 1024 * 1024) } })).rejects.toMatchObject({ code: 17419 });
    await rows.insertOne({ _id: "b", one: "x".repeat(9 * 1024 * 1024) });
    expect(await rows.find().toArray()).toHaveLength(2);
    await rows.drop();
  });

  it("merges what a pipeline gives into a collection, document by document", async () => {
    const [source, target] = [emptyCollection(), emptyCollection()];
    await source.insertOne({ _id: "a", tag: "t", list: [{ n: 1 }, { n: 2 }, { n: 3 }] });
    await source.insertOne({ _id: "b", tag: "u", list: [{ n: 4 }] });
    const into = (modes: Document): Promise<Document[]> => {
      const id = { $concat: ["$_id", { $substrCP: [{ $toString: { $toLong: { $add: ["$list.n", 10 ** 10] } } }, 9, 2] }] };
      const steps = [{ $match: { _id: "a" } }, { $unwind: "$list" }, { $project: { _id: id, n: "$list.n", tag: 1 } }];
      return source.aggregate([...steps, { $merge: { into: target.collectionName, on: "_id", ...modes } }]).toArray();
    };
    const rows = (): Promise<Row[]> => target.find({}, { sort: { _id: 1 }, projection: { tag: 0 } }).toArray();
    await expect(into({ whenMatched: "replace", whenNotMatched: "fail" })).rejects.toMatchObject({ code: 13113 });
    await into({ whenMatched: "merge", whenNotMatched: "discard" });
    expect(await rows()).toEqual([]);
    await target.insertOne({ _id: "a02", n: 0, old: true });
    expect(await into({ whenMatched: "keepExisting", whenNotMatched: "insert" })).toEqual([]);
    const kept = [
      { _id: "a01", n: 1 },
      { _id: "a02", n: 0, old: true },
      { _id: "a03", n: 3 },
    ];
    expect(await rows()).toEqual(kept);
    await into({});
    expect((await rows())[1]).toEqual({ _id: "a02", n: 2, old: true });
    await into({ whenMatched: "replace" });
    expect((await rows())[1]).toEqual({ _id: "a02", n: 2 });
    const isNewer = { $lt: ["$n", "$$new.n"] };
    await target.updateOne({ _id: "a01" }, { $set: { n: 0 } });
    await target.updateOne({ _id: "a02" }, { $set: { n: 9 } });
    const newer = { $mergeObjects: ["$$new", { before: "$n" }] };
    await into({ whenMatched: [{ $replaceWith: { $cond: [isNewer, newer, "$$ROOT"] } }], whenNotMatched: "insert" });
    expect(await rows()).toEqual([
      { _id: "a01", n: 1, before: 0 },
      { _id: "a02", n: 9 },
      { _id: "a03", n: 3 },
    ]);
  });

  it("keeps what a merge wrote when another document of it is refused", async () => {
    const [source, target] = [emptyCollection(), emptyCollection()];
    await source.insertMany([1, 2, 3].map((n) => ({ _id: `id-${n}`, n })));
    await target.createIndex({ n: 1 }, { unique: true });
    await target.insertOne({ _id: "other", n: 2 });
    const merge = (whenMatched: unknown, more = {}): Promise<Document[]> =>
      source.aggregate([{ $merge: { into: target.collectionName, whenMatched, ...more } }]).toArray();
    await expect(merge("fail")).rejects.toMatchObject({ code: 11000, keyValue: { n: 2 } });
    expect(await target.distinct("_id")).toEqual(["other", "id-1"]);
    await expect(merge("keepExisting")).rejects.toMatchObject({ code: 11000, codeName: "DuplicateKey" });
    expect(await target.distinct("_id")).toEqual(["other", "id-1", "id-3"]);
    await expect(merge("keepExisting", { whenNotMatched: "discard" })).rejects.toMatchObject({ code: 51181 });
    await expect(merge([{ $set: { n: 0 } }], { let: { one: 1 } })).rejects.toMatchObject({ code: 115, codeName: "CommandNotSupported" });
    await expect(merge("merge", { on: "n" })).rejects.toMatchObject({ code: 115 });
    const early = source.aggregate([{ $merge: target.collectionName }, { $match: {} }]);
    await expect(early.toArray()).rejects.toMatchObject({ code: 40601 });
  });

  it("refuses what it does not have, as a mongod without a replica set", async () => {
    const database = client.db("test");
    await expect(database.command({ nonsense: 1 })).rejects.toMatchObject({ code: 59, codeName: "CommandNotFound" });
    await expect(
      emptyCollection()
        .find({ a: { $nonsense: 1 } })
        .toArray(),
    ).rejects.toMatchObject({ code: 2 });
    await expect(emptyCollection().watch().next()).rejects.toMatchObject({ code: 40573 });
    const inTransaction = client.withSession((session) =>
      session.withTransaction(() => emptyCollection().insertOne({ _id: "a" }, { session })),
    );
    await expect(inTransaction).rejects.toThrow(/does not support retryable writes/);
  });

  it("lists and drops collections and databases", async () => {
    const database = client.db("listed");
    await database.collection<Row>("a").insertOne({ _id: "1" });
    await database.createCollection("b");
    await expect(database.createCollection("b")).rejects.toMatchObject({ code: 48 });
    expect((await database.listCollections().toArray()).map(({ name }) => name)).toEqual(["a", "b"]);
    await database.dropCollection("a");
    await database.dropDatabase();
    expect(await database.listCollections().toArray()).toEqual([]);
    await expect(database.collection("a").listIndexes().toArray()).rejects.toMatchObject({ code: 26 });
  });

  it("ends its connections when it is closed", async () => {
    const other = await mongoServer();
    const late = await MongoClient.connect(other.url, { serverSelectionTimeoutMS: 100 });
    await other.close();
    await expect(late.db("test").command({ ping: 1 })).rejects.toThrow(/ECONNREFUSED|closed/);
    await late.close();
  });
});
