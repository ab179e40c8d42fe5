import { type Db, MongoClient, MongoNetworkError } from "mongodb";
import { describe, expect, it } from "vitest";
import type { Commit } from "../../../src/ports/snapshot-store.ts";
import { migrateMongo, mongoStore } from "../../../src/stores/databases/mongo/index.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { engineCommits } from "../engine-commits.fixture.ts";
import { oneOfEightWins } from "../rival-commits.fixture.ts";
import { child, gone, writeAll } from "./mongo-commits.fixture.ts";
import { mongoDatabases } from "./mongo-databases.fixture.ts";
import { type Call, observed } from "./observed-database.fixture.ts";

const { url, add: newDatabase } = await mongoDatabases();

/** All documents of a database. */
async function everything(db: Db): Promise<unknown[]> {
  const names = ["executions", "history", "records"];
  return await Promise.all(
    names.map((name) =>
      db
        .collection(`stepfold_${name}`)
        .find({}, { sort: { _id: 1 } })
        .toArray(),
    ),
  );
}

const lost = () => {
  throw new MongoNetworkError("connection closed");
};

describe("what a MongoDB store writes (stand-in for a single mongod, or the server at STEPFOLD_MONGODB_URL)", () => {
  it("is nothing for a commit that is refused, whatever the reason", async () => {
    const db = newDatabase();
    const store = mongoStore(db);
    const first = startCommit("a", { children: [child("x", 1)] });
    const claim = await store.create(first, { claim: { owner: "worker", leaseMs: 60_000 } });
    const second = stepCommit(first, { fence: claim!.fence });
    await store.commit(second);
    const ended = startCommit("ended", { status: "completed" });
    await store.create(ended);
    const before = await everything(db);
    const children = [child("x", 2), child("y", 3), gone("x")];
    const refused: [Commit, string][] = [
      [stepCommit(first, { children, fence: claim!.fence }), "VERSION_CONFLICT"],
      [stepCommit(second, { children, fence: claim!.fence + 1 }), "FENCE_LOST"],
      [{ ...stepCommit(second, { children }), incarnation: "another" }, "VERSION_CONFLICT"],
      [stepCommit(startCommit("nobody"), { children }), "VERSION_CONFLICT"],
      [stepCommit(ended, { children }), "EXECUTION_ENDED"],
    ];
    for (const [commit, code] of refused) await expect(store.commit(commit), code).rejects.toMatchObject({ code });
    await expect(store.create(startCommit("a", { children }))).rejects.toMatchObject({ code: "WORKFLOW_EXISTS" });
    await store.commit(second);
    await store.create(first);
    expect(await everything(db)).toEqual(before);
  });

  it("is all of a commit or nothing, wherever the connection is lost", async () => {
    for (const when of ["before", "after"] as const) {
      for (const broken of ["executions.findOne", "executions.aggregate", "executions.findOneAndUpdate"]) {
        const db = newDatabase();
        const loses = { armed: false };
        const lossy = observed(db, ({ collection, method }) => {
          return loses.armed && `${collection}.${method}` === `stepfold_${broken}` ? { [when]: lost } : undefined;
        });
        const store = mongoStore(lossy);
        const commits = [startCommit("a", { children: [child("x", 1), child("y", 1)] })];
        commits.push(stepCommit(commits[0]!, { children: [child("x", 2), gone("y")] }));
        commits.push(stepCommit(commits[1]!, { children: [child("y", 3), child("z", 3)] }));
        await store.create(commits[0]!);
        for (const [index, commit] of commits.slice(1).entries()) {
          loses.armed = true;
          await expect(store.commit(commit)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
          const isThere = broken === "executions.findOneAndUpdate" && when === "after";
          expect(await mongoStore(db).load("a")).toEqual(snapshotAfter(...commits.slice(0, isThere ? index + 2 : index + 1)));
          loses.armed = false;
          await store.commit(commit);
          expect(await store.load("a")).toEqual(snapshotAfter(...commits.slice(0, index + 2)));
        }
        expect((await store.events("a", -1, 10)).map(({ commitId }) => commitId)).toEqual(commits.map(({ commitId }) => commitId));
      }
    }
  });

  it("acknowledges a creation whose acknowledgement was lost, with the same claim", async () => {
    let loses = true;
    const store = mongoStore(
      observed(newDatabase(), ({ collection, method }) =>
        loses && collection === "stepfold_executions" && method === "findOneAndUpdate" ? { after: lost } : undefined,
      ),
    );
    const first = startCommit("a");
    const lease = { owner: "worker", leaseMs: 60_000 };
    await expect(store.create(first, { claim: lease })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    loses = false;
    expect(await store.create(first, { claim: lease })).toMatchObject({ workflowId: "a", fence: 1, owner: "worker" });
  });

  it("is read again when children changed in the middle", async () => {
    const db = newDatabase();
    const store = mongoStore(db);
    const commits = [startCommit("a", { children: [child("x", 0), child("y", 0)] })];
    commits.push(stepCommit(commits[0]!, { children: [child("x", 1), gone("y")] }));
    commits.push(stepCommit(commits[1]!, { children: [child("z", 2)] }));
    await writeAll(store, commits.slice(0, 1));
    let meanwhile: readonly Commit[] = commits.slice(1);
    const reader = mongoStore(
      observed(db, ({ collection }) => {
        if (collection !== "stepfold_history") return undefined;
        const write = async () => {
          const now = meanwhile;
          meanwhile = [];
          await writeAll(store, now);
        };
        return { before: write };
      }),
    );
    expect(await reader.load("a")).toEqual(snapshotAfter(...commits));
  });

  it("is read as one version while others write", { timeout: 60_000 }, async () => {
    const db = newDatabase();
    const [writer, reader] = [mongoStore(db), mongoStore(db)];
    const histories = Array.from({ length: 8 }, (_, seed) => engineCommits(`id-${seed}`, seed));
    let writing = true;
    let seen = 0;
    const written = Promise.all(histories.map((commits) => writeAll(writer, commits))).then(() => {
      writing = false;
    });
    while (writing) {
      for (const commits of histories) {
        const snapshot = await reader.load(commits[0]!.workflowId);
        if (!snapshot) continue;
        const upTo = commits.findIndex(({ head }) => head.version === snapshot.version);
        expect(snapshot).toEqual(snapshotAfter(...commits.slice(0, upTo + 1)));
        seen++;
      }
    }
    await written;
    expect(seen).toBeGreaterThan(0);
    for (const commits of histories) expect(await reader.load(commits[0]!.workflowId)).toEqual(snapshotAfter(...commits));
  });

  it("costs the same for the 2,000th event as for the 2nd", async () => {
    const calls: Call[] = [];
    const store = mongoStore(
      observed(newDatabase(), (call) => {
        calls.push(call);
        return undefined;
      }),
    );
    const first = startCommit("a", { children: [child("x", 0)] });
    const claim = await store.create(first, { claim: { owner: "worker", leaseMs: 600_000 } });
    let last: Commit = first;
    const costOf = async (commit: Commit) => {
      calls.length = 0;
      await store.commit(commit);
      last = commit;
      return calls.map(({ collection, method, first: what }) => [collection, method, Array.isArray(what) ? what.length : 1]);
    };
    await costOf(stepCommit(last, { fence: claim!.fence }));
    const early = await costOf(stepCommit(last, { fence: claim!.fence }));
    await costOf(stepCommit(last, { fence: claim!.fence, outputs: Array.from({ length: 2000 }, (_, index) => index) }));
    await costOf(stepCommit(last, { fence: claim!.fence }));
    expect(await costOf(stepCommit(last, { fence: claim!.fence }))).toEqual(early);
    expect(early).toEqual([
      ["stepfold_executions", "findOne", 1],
      ["stepfold_executions", "aggregate", 5],
      ["stepfold_executions", "findOneAndUpdate", 1],
    ]);
    expect((await store.load("a"))?.version).toBe(2004);
  });

  it("lets one of eight commits win, in each of 200 rounds over two handles", { timeout: 120_000 }, async () => {
    const db = newDatabase();
    await oneOfEightWins([mongoStore(db), mongoStore(db)]);
  });

  it("may be of 14 MB in one commit, with values of 8 MB, and is refused beyond", async () => {
    const store = mongoStore(newDatabase());
    const first = startCommit("a");
    await store.create(first);
    const large = "x".repeat(7_000_000);
    const tooMuch = stepCommit(first, { outputs: [large, large, "y".repeat(100_000)] });
    await expect(store.commit(tooMuch)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", details: { limit: "mongodb commit in bytes" } });
    const second = stepCommit(first, { outputs: [large, large.slice(0, 6_990_000)] });
    await store.commit(second);
    await store.commit(stepCommit(second));
    expect((await store.load("a"))?.version).toBe(3);
    const metadata = { note: "x".repeat(1_000_000) };
    await expect(store.create(startCommit("b", { metadata }))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });

  it("may have metadata of 1 MB after any commit, and is refused beyond", async () => {
    const store = mongoStore(newDatabase());
    const first = startCommit("a");
    await store.create(first);
    const setting = (length: number): Commit => {
      const metadata = { note: "x".repeat(length) };
      return stepCommit(first, { event: (version) => ({ type: "metadataSet", version, at: 1_000, metadata }), head: { metadata } });
    };
    // metadata stays in the document: with 6 MB of it, the server would refuse a later commit of 12 MB
    for (const length of [1_000_000, 6_000_000]) {
      const details = { limit: "mongodb metadata in bytes", max: 1_000_000 };
      await expect(store.commit(setting(length)), `${length}`).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", details });
    }
    const second = setting(999_000);
    await store.commit(second);
    await store.commit(stepCommit(second, { outputs: ["x".repeat(6_900_000), "y".repeat(6_900_000)] }));
    expect(await store.load("a")).toMatchObject({ version: 3, metadata: second.head.metadata });
  });

  it("takes ids and metadata for nothing but names", async () => {
    const store = mongoStore(newDatabase());
    const names = [
      "$where",
      "$$NOW",
      "$_id",
      "a.b",
      "toString",
      "constructor",
      '"]',
      '["',
      "\u0000",
      "a ",
      "a",
      "A",
      "𐀀😀",
      "x".repeat(255),
    ];
    for (const name of names) await store.create(startCommit(name, { metadata: { [name]: name, n: names.indexOf(name) } }));
    for (const name of names) {
      const metadata = { [name]: name, n: names.indexOf(name) };
      expect((await store.list({ metadata })).items.map(({ workflowId }) => workflowId)).toEqual([name]);
      const first = (await store.load(name))!;
      await store.commit(stepCommit(first, { status: "completed" }));
    }
    for (const name of names) await store.delete(name);
    expect((await store.list()).items).toEqual([]);
  });

  it("takes no operators where text belongs", async () => {
    const store = mongoStore(newDatabase());
    const claim = await store.create(startCommit("a"), { claim: { owner: "worker", leaseMs: 1 } });
    const any = { $ne: null } as never;
    expect(await store.load(any)).toBeNull();
    expect(await store.events(any, -1, 10)).toEqual([]);
    expect(await store.claim({ owner: "thief", leaseMs: 1000, limit: 1, workflowId: any })).toEqual([]);
    expect(await store.getDefinition(any)).toBeNull();
    await expect(store.renew({ ...claim!, fence: any })).rejects.toMatchObject({ code: "FENCE_LOST" });
    await expect(store.delete(any)).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    expect((await store.list({ definitionId: any }).catch(() => ({ items: [] }))).items).toEqual([]);
  });

  it("waits for a majority and for the journal with every write, and reads from the primary", async () => {
    const seen: Record<string, unknown>[] = [];
    const watched = new MongoClient(url(), { monitorCommands: true, readConcernLevel: "majority" });
    watched.on("commandStarted", ({ command }) => seen.push(command));
    const db = watched.db(newDatabase().databaseName);
    const store = mongoStore(db);
    const first = startCommit("a", { children: [child("x", 0)] });
    const claim = await store.create(first, { claim: { owner: "worker", leaseMs: 60_000 } });
    await store.renew(claim!);
    await store.commit(stepCommit(first, { children: [gone("x")] }));
    await store.release(claim!, 1);
    await store.claim({ owner: "worker", leaseMs: 60_000, limit: 1 });
    await store.putDefinition("h", { id: "d", nodes: [], edges: [] });
    const ended = stepCommit((await store.load("a"))!, { status: "completed" });
    await store.commit(ended);
    await store.prune({ before: Number.MAX_SAFE_INTEGER });
    const isWrite = ({ pipeline, ...command }: Record<string, unknown>) =>
      ["insert", "update", "delete", "findAndModify"].some((name) => name in command) || JSON.stringify(pipeline)?.includes("$merge");
    const writes = seen.filter(isWrite);
    expect(new Set(writes.map((command) => Object.keys(command)[0]))).toEqual(new Set(["findAndModify", "aggregate", "update", "delete"]));
    expect(writes.length).toBeGreaterThan(10);
    for (const { writeConcern } of writes) expect(writeConcern).toEqual({ w: "majority", j: true });
    const copies = writes.filter((command) => "aggregate" in command);
    for (const { readConcern } of copies) expect(readConcern).toEqual({ level: "local" });
    await watched.close();
  });

  it("is cleaned up by prune when a deletion was broken off, once the id is free again", async () => {
    const db = newDatabase();
    const first = startCommit("a", { children: [child("x", 0)] });
    const ended = stepCommit(first, { status: "completed" });
    const store = mongoStore(db);
    await writeAll(store, [first, ended]);
    const broken = mongoStore(observed(db, ({ method }) => (method === "deleteMany" ? { before: lost } : undefined)));
    await expect(broken.delete("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await store.load("a")).toBeNull();
    await expect(store.create(startCommit("a"))).rejects.toMatchObject({ code: "WORKFLOW_EXISTS" });
    await mongoStore(db, { idempotencyRetentionMs: 0 }).prune({ before: 0 });
    expect((await everything(db)).map((documents) => (documents as unknown[]).length)).toEqual([0, 0, 0]);
  });
});

describe("a MongoDB store and its database", () => {
  it("makes its indexes once, or when it is told to", async () => {
    const db = newDatabase();
    await Promise.all([migrateMongo(db), migrateMongo(db)]);
    await mongoStore(db, { migrate: true }).load("a");
    const names = (await db.collection("stepfold_executions").listIndexes().toArray()).map(({ name }) => name);
    expect(names.sort()).toEqual(["_id_", "created", "definition", "deleted", "due", "ended", "exempt", "labels", "run", "status"]);
  });

  it("refuses what an older version has written", async () => {
    const db = newDatabase();
    await db.collection<{ _id: string }>("stepfold_executions").insertOne({ _id: "a" });
    const refusal = { code: "STORE_REJECTED", message: expect.stringContaining("older version") };
    await expect(migrateMongo(db)).rejects.toMatchObject(refusal);
    for (const migrate of [true, false]) await expect(mongoStore(db, { migrate }).load("a")).rejects.toMatchObject(refusal);
    expect(await mongoStore(db, { prefix: "other_" }).load("a")).toBeNull();
  });

  it("keeps apart what has another prefix, and takes no prefix that is none", async () => {
    const db = newDatabase();
    const [one, other] = [mongoStore(db, { prefix: "one_" }), mongoStore(db, { prefix: "" })];
    await one.create(startCommit("a"));
    expect(await other.load("a")).toBeNull();
    for (const prefix of ["a.b", "$a", "a b", "x".repeat(49), "\u0000"]) {
      expect(() => mongoStore(db, { prefix }), prefix).toThrow("prefix");
    }
  });

  it("says that a server is away, without the password", async () => {
    const away = new MongoClient("mongodb://ada:secret@127.0.0.1:1/", { serverSelectionTimeoutMS: 50 });
    const refused = await mongoStore(away.db("x"))
      .load("a")
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    expect(JSON.stringify(refused)).not.toContain("secret");
    await away.close();
  });

  it("waits for what is under way when it is closed", async () => {
    const db = newDatabase();
    const store = mongoStore(db);
    const first = startCommit("a");
    await store.create(first);
    const late = store.commit(stepCommit(first));
    await store.close();
    expect((await mongoStore(db).load("a"))?.version).toBe(1);
    await late;
  });
});
