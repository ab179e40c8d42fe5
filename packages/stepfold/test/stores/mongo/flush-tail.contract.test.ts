import { type Db, MongoServerError } from "mongodb";
import { describe, expect, it } from "vitest";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { mongoStore } from "../../../src/stores/databases/mongo/index.ts";
import { flushTail, keyOf } from "../../../src/stores/databases/mongo/mongo-history.ts";
import { collectionsOf } from "../../../src/stores/databases/mongo/mongo-schema.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { child, gone, writeAll } from "./mongo-commits.fixture.ts";
import { mongoDatabases } from "./mongo-databases.fixture.ts";
import { observed } from "./observed-database.fixture.ts";

const { add: newDatabase } = await mongoDatabases();

interface EventRow {
  readonly _id: string;
  readonly version: number;
}

const eventsIn = (db: Db) => db.collection<EventRow>("stepfold_history");
const eventId = (key: string, version: number): string => key + String(version).padStart(10, "0");
const versionsIn = async (db: Db): Promise<number[]> =>
  (
    await eventsIn(db)
      .find({}, { sort: { _id: 1 } })
      .toArray()
  ).map(({ version }) => version);

/** Writes an execution whose last commit has the versions 1 to 4. */
async function fourEvents(store: SnapshotStore): Promise<[Commit, Commit]> {
  const first = startCommit("a");
  const second = stepCommit(first, { outputs: [1, 2, 3, 4] });
  await store.create(first);
  await store.commit(second);
  return [first, second];
}

/** A store that runs `work` before it copies events for the first time. */
function beforeCopy(db: Db, work: () => Promise<unknown>): SnapshotStore {
  let isFirst = true;
  return mongoStore(
    observed(db, ({ method }) => {
      if (method !== "aggregate" || !isFirst) return undefined;
      isFirst = false;
      return { before: work };
    }),
  );
}

describe("events and children that a MongoDB store copies out of a document", () => {
  it("are all there before the document changes, also when copying was cut in the middle", async () => {
    const db = newDatabase();
    const store = mongoStore(db);
    const [first, second] = await fourEvents(store);
    const third = stepCommit(second);
    // with this index the event of another execution prevents the copy of version 3
    const events = eventsIn(db);
    await events.createIndex({ version: 1 }, { unique: true });
    await events.insertOne({ _id: "other", version: 3 });
    await expect(store.commit(third)).rejects.toMatchObject({ code: "STORE_REJECTED" });
    await events.deleteOne({ _id: "other" });
    const some = await versionsIn(db);
    expect(some).toContain(1);
    expect(some).not.toContain(3);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));

    let whenReplaced: number[] = [];
    const watched = observed(db, ({ method }) => {
      const before = async () => {
        whenReplaced = await versionsIn(db);
      };
      return method === "findOneAndUpdate" ? { before } : undefined;
    });
    await mongoStore(watched).commit(third);
    expect(whenReplaced).toEqual([0, 1, 2, 3, 4]);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second, third));
  });

  it("are copied again when somebody else puts one of them in the same moment", async () => {
    const db = newDatabase();
    const [first, second] = await fourEvents(mongoStore(db));
    const store = beforeCopy(db, async () => {
      const text = JSON.stringify(second.events[1]);
      const row = { _id: eventId(keyOf("a", second.incarnation), 2), version: 2, commitId: second.commitId, text };
      await eventsIn(db).insertOne(row);
      throw new MongoServerError({ code: 11000, errmsg: "E11000 duplicate key error collection: x index: _id_ dup key: { _id: 1 }" });
    });
    const third = stepCommit(second);
    await store.commit(third);
    expect(await versionsIn(db)).toEqual([0, 1, 2, 3, 4]);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second, third));
  });

  it("are somebody else's when the document changed meanwhile, and the commit is refused", async () => {
    const db = newDatabase();
    const rival = mongoStore(db);
    const [first, second] = await fourEvents(rival);
    const faster = stepCommit(second, { output: "faster" });
    const late = beforeCopy(db, () => rival.commit(faster));
    await expect(late.commit(stepCommit(second, { output: "late" }))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await versionsIn(db)).toEqual([0, 1, 2, 3, 4]);
    expect(await rival.load("a")).toEqual(snapshotAfter(first, second, faster));
  });

  it("leave no event behind when the execution was deleted meanwhile", async () => {
    const db = newDatabase();
    const rival = mongoStore(db);
    const [, second] = await fourEvents(rival);
    const late = beforeCopy(db, async () => {
      await rival.commit(stepCommit(second, { status: "completed" }));
      await rival.delete("a");
    });
    await expect(late.commit(stepCommit(second))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await versionsIn(db)).toEqual([]);
  });

  it("get ids in the order of their versions, as far as versions go", async () => {
    const db = newDatabase();
    const versions = [0, 9, 10, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 9_999_999_998];
    const events = versions.map((version) => ({ id: eventId("", version), version, text: "{}" }));
    const key = keyOf("a", "$i");
    const stored = { _id: "a", key, version: versions.at(-1)!, tail: { commitId: "$c", events, children: [] } };
    await db.collection<{ _id: string }>("stepfold_executions").insertOne(stored);
    await flushTail(collectionsOf(db, "stepfold_"), "a", stored.version, false);
    expect(
      await eventsIn(db)
        .find({}, { sort: { _id: 1 } })
        .toArray(),
    ).toEqual(versions.map((version) => ({ _id: eventId(key, version), version, commitId: "$c", text: "{}" })));
  });

  it("stay as they are when they are newer, however late an old copy comes", async () => {
    const db = newDatabase();
    const store = mongoStore(db);
    const collections = collectionsOf(db, "stepfold_");
    const commits = [startCommit("a", { children: [child("x", 0), child("y", 0), child("z", 0)] })];
    const executions = db.collection<{ _id: string; version: number }>("stepfold_executions");
    const late: { _id: string; version: number }[] = [];
    const flush = ({ _id, version }: { _id: string; version: number }) => flushTail(collections, _id, version, true);
    for (const children of [[child("x", 1)], [gone("x"), child("y", 1)], [child("x", 2)], [gone("z"), child("z", 3)], []]) {
      commits.push(stepCommit(commits.at(-1)!, { children }));
    }
    for (const [index, commit] of commits.entries()) {
      await writeAll(store, [commit]);
      const stored = (await executions.findOne({ _id: "a" }))!;
      const { childStates } = snapshotAfter(...commits.slice(0, index + 1));
      for (const work of [async () => {}, () => flush(stored)]) {
        await work();
        expect(Object.entries((await store.load("a"))!.childStates!)).toEqual(Object.entries(childStates!));
      }
      // the document as a process knows it that has read it and then stood still
      late.push({ ...stored, _id: `late-${index}` });
    }
    await executions.insertMany(late);
    for (const stored of [...late, ...late.toReversed()]) await flush(stored);
    await Promise.all(late.map(flush));
    const snapshot = await store.load("a");
    expect(snapshot).toEqual(snapshotAfter(...commits));
    expect(Object.keys(snapshot!.childStates!)).toEqual(["y", "x", "z"]);
  });
});
