import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../scripts/test/effort.ts";
import type { Event } from "../../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../../src/core/values/json.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { blobbedStore } from "../../../src/stores/wrappers/blobs/blobbed-store.ts";
import { compressedStore } from "../../../src/stores/wrappers/compressed/compressed-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { keptHistory, randomDefinition } from "../../core/restore.fixture.ts";
import { commitBetween, lookalikes, memoryBlobs } from "./values.fixture.ts";

const dice = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 20, maxLength: 80 });
const anyValue = fc.oneof(fc.jsonValue() as fc.Arbitrary<Json>, fc.constantFrom(...lookalikes));
const values = fc.array(anyValue, { minLength: 1, maxLength: 20 });

const now = () => 1_000_000;
const secret = (seed: number): Uint8Array => new Uint8Array(32).fill(seed);
const encrypted = (inner: SnapshotStore): SnapshotStore =>
  encryptedStore(inner, { keys: [{ id: "k", key: secret(1) }], searchKey: secret(2) });

const wrappers: Readonly<Record<string, (inner: SnapshotStore) => SnapshotStore>> = {
  encrypted,
  compressed: (inner) => compressedStore(inner, { aboveBytes: 20 }),
  blobbed: (inner) => blobbedStore(inner, memoryBlobs(), { aboveBytes: 10 }),
  "compressed, then encrypted, then blobbed": (inner) =>
    compressedStore(encrypted(blobbedStore(inner, memoryBlobs(), { aboveBytes: 100 })), { aboveBytes: 20 }),
  "encrypted twice": (inner) => encrypted(encrypted(inner)),
};

/** The commits of a random history, with these values in it. */
function commitsOf(seed: number, thrown: readonly number[], given: readonly Json[]): Commit[] {
  const commits: Commit[] = [];
  let before: Snapshot | null = null;
  keptHistory(randomDefinition(seed), thrown, ({ events, restored }) => {
    if (restored.version === before?.version) return;
    commits.push(commitBetween(before, restored, events, "a"));
    before = structuredClone(restored);
  });
  let used = 0;
  const next = (): Json => given[used++ % given.length]!;
  const filled = (event: Event): Event => {
    if (event.type === "completed") return { ...event, output: next() };
    if (event.type === "failed") return { ...event, error: { ...event.error, message: String(next()), code: String(next()) } };
    return "payload" in event ? ({ ...event, payload: next() } as Event) : event;
  };
  const metadata = { value: next(), message: next(), error: "~stepfold/compressed:x", "~stepfold/blob": next() };
  const permit = { key: JSON.stringify(next()), limit: 1 + given.length };
  return commits.map((commit) => ({
    ...commit,
    head: { ...commit.head, metadata, output: next(), permit },
    events: commit.events.map((event) => (event.type === "started" ? { ...event, metadata, permit } : filled(event))),
  }));
}

/** Everything that a store returns about an execution, as text, because the order of keys counts. */
async function shown(store: SnapshotStore, { workflowId }: Commit): Promise<string> {
  const lease = { owner: "worker", leaseMs: 1000, limit: 1 };
  // fences are left out, because they rise by random steps
  const claimed = async () => (await store.claim(lease)).map(({ fence: _, ...claim }) => claim);
  const seen = [await store.load(workflowId), await store.events(workflowId, -1, 1000), await store.list(), await claimed()];
  return JSON.stringify(seen);
}

describe("a store that wraps another", () => {
  for (const [name, wrap] of Object.entries(wrappers)) {
    it(`gives what the other one gives without it: ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.nat(), dice, values, async (seed, thrown, given) => {
          const commits = commitsOf(seed, thrown, given);
          const [plain, wrapped] = [memoryStore({ now }), wrap(memoryStore({ now }))];
          for (const commit of commits) {
            for (const store of [plain, wrapped]) await (commit.expectedVersion === -1 ? store.create(commit) : store.commit(commit));
          }
          expect(await shown(wrapped, commits[0]!)).toBe(await shown(plain, commits[0]!));
        }),
        { numRuns: tries(40) },
      );
    });
  }
});
