import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { Claim, Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { redisStore } from "../../../src/stores/databases/redis/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { ownPrefixes } from "./own-prefix.fixture.ts";

const url = await serviceUrlOrSkip("redis");
const own = url === null ? null : ownPrefixes(url);
afterAll(() => own?.close());

const lease = { owner: "worker", leaseMs: 600_000 };

/** Makes a generator of pseudo-random numbers below `sides`. The numbers are the same for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Makes the same calls to two stores, and compares the claims that they return. */
class Twins {
  readonly #stores: readonly SnapshotStore[];
  readonly #latest = new Map<string, Commit>();
  /** The claims of the held executions: for each execution one claim of each store. */
  readonly #held = new Map<string, readonly Claim[]>();
  /** The latest fence of each store and execution. */
  readonly #fences = new Map<string, number>();
  readonly #roll: (sides: number) => number;
  claims = 0;

  constructor(stores: readonly SnapshotStore[], roll: (sides: number) => number) {
    this.#stores = stores;
    this.#roll = roll;
  }

  async step(index: number): Promise<void> {
    const roll = this.#roll;
    const key = (["x", "y", "z"] as const)[roll(3)]!;
    const [open, held] = [this.#any(this.#latest), this.#any(this.#held)];
    switch (roll(9)) {
      case 0:
      case 1: {
        const status = roll(4) === 0 ? "paused" : "active";
        const head = roll(4) === 0 ? {} : { permit: { key, limit: 1 + roll(3) } };
        return this.#write(startCommit(`id-${index}`, { status, head }));
      }
      case 2:
        return this.#claim({ limit: 1 + roll(4) });
      case 3:
        return this.#claim({ limit: 1 + roll(3), permit: key });
      case 4:
        return this.#claim({ limit: 1, workflowId: open ?? "nobody" });
      case 5:
        return held === undefined ? undefined : this.#release(held);
      case 6:
        return open === undefined ? undefined : this.#write(stepCommit(this.#latest.get(open)!, { wakeAt: 0 }));
      default:
        return held === undefined ? undefined : this.#commit(held, roll(4));
    }
  }

  #any(from: ReadonlyMap<string, unknown>): string | undefined {
    return [...from.keys()][this.#roll(Math.max(1, from.size))];
  }

  async #claim(wanted: { readonly limit: number; readonly permit?: string; readonly workflowId?: string }): Promise<void> {
    const [expected = [], actual = []] = await Promise.all(this.#stores.map((store) => store.claim({ ...lease, ...wanted })));
    const told = ({ workflowId, version, sizeBytes }: Claim) => ({ workflowId, version, sizeBytes });
    expect(actual.map(told)).toEqual(expected.map(told));
    for (const [index, claim] of expected.entries()) {
      for (const [place, { fence }] of [claim, actual[index]!].entries()) {
        expect(fence).toBeGreaterThan(this.#fences.get(`${place} ${claim.workflowId}`) ?? 0);
        this.#fences.set(`${place} ${claim.workflowId}`, fence);
      }
      this.#held.set(claim.workflowId, [claim, actual[index]!]);
    }
    this.claims += expected.length;
  }

  async #release(id: string): Promise<void> {
    const { version } = this.#latest.get(id)!.head;
    for (const [index, store] of this.#stores.entries()) await store.release(this.#held.get(id)![index]!, version);
    this.#held.delete(id);
  }

  async #commit(id: string, kind: number): Promise<void> {
    const held = this.#held.get(id)!;
    const from = this.#latest.get(id)!;
    if (kind === 0) return this.#write(stepCommit(from), held);
    this.#held.delete(id);
    if (kind === 1) return this.#write(stepCommit(from, { status: "paused", release: true }), held);
    // the holder completes the execution, or another process cancels it
    return kind === 2
      ? this.#write(stepCommit(from, { status: "completed" }), held)
      : this.#write(stepCommit(from, { status: "cancelled" }));
  }

  async #write(commit: Commit, held?: readonly Claim[]): Promise<void> {
    const isFirst = commit.expectedVersion === -1;
    for (const [index, store] of this.#stores.entries()) {
      await (isFirst ? store.create(commit) : store.commit(held ? { ...commit, fence: held[index]!.fence } : commit));
    }
    if (["completed", "cancelled"].includes(commit.head.status)) this.#latest.delete(commit.workflowId);
    else this.#latest.set(commit.workflowId, commit);
  }
}

describe.skipIf(url === null)("turns in Redis", () => {
  it.each([1, 2, 3])("are those of the memory store, whatever happens (%i)", async (seed) => {
    let now = 1;
    const twins = new Twins([memoryStore({ now: () => now }), redisStore(own!.redis, { prefix: own!.next() })], dice(seed));
    for (let index = 0; index < 400; index++) {
      await twins.step(index);
      // no two executions become due in the same millisecond
      now += 2;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(twins.claims).toBeGreaterThan(60);
  });
});
