import { StepfoldError } from "../../packages/stepfold/src/core/errors/stepfold-error.ts";
import type { Commit, SnapshotStore } from "../../packages/stepfold/src/ports/snapshot-store.ts";
import { memoryStore } from "../../packages/stepfold/src/stores/databases/memory/memory-store.ts";
import { altered } from "../../packages/stepfold/src/testing/broken/broken-store.ts";
import { rebased } from "../../packages/stepfold/src/testing/broken/rebased.ts";
import { brokenStores } from "../../packages/stepfold/src/testing/broken-stores.ts";
import { messagesAreKept, type PortMutant } from "./mutant.ts";

const crashes = { mode: "liveness", faults: ["crash"] } as const;
const zombies = { mode: "liveness", faults: ["storeSlow", "slowStep", "partition"] } as const;
const faultFree = { mode: "faultFree", faults: [] } as const;

/** Mistakes in stores and queues. */
export const portMutants: readonly PortMutant[] = [
  {
    name: "pause-keeps-the-version",
    caughtBy: ["I1"],
    seenStore: (store) =>
      altered(store, {
        commit({ head, ...commit }) {
          const isPause = commit.events.at(-1)?.type === "suspended";
          return store.commit({ ...commit, head: isPause ? { ...head, version: commit.expectedVersion } : head });
        },
      }),
  },
  { name: "last-write-wins", caughtBy: ["I2"], store: broken("ignores the expected version") },
  {
    name: "check-then-write",
    firstSeed: 4,
    caughtBy: ["I2", "I3"],
    store: (store, { sleep }) =>
      altered(store, {
        async commit(commit) {
          const actual = (await store.load(commit.workflowId))?.version;
          if (actual === commit.expectedVersion) {
            await sleep(20);
            await force(store, commit);
          } else await store.commit(commit);
        },
      }),
  },
  { name: "fence-not-checked", firstSeed: 6, caughtBy: ["I14"], store: broken("ignores the fence"), options: zombies },
  { name: "hands-out-what-is-held", caughtBy: ["I14"], store: broken("hands out what is held") },
  { name: "same-fence-for-all", caughtBy: ["I14"], store: broken("gives every claim of an execution the same fence") },
  {
    name: "renewal-revives-lost-claim",
    firstSeed: 6,
    caughtBy: ["I14"],
    store: broken("renews the claim of a holder that was replaced"),
    options: zombies,
  },
  {
    name: "lease-by-the-clock-of-workers",
    caughtBy: ["I14", "I8"],
    options: { mode: "faultFree", faults: ["skew"] },
    store: (_store, { callerNow }) => memoryStore({ now: callerNow }),
  },
  {
    name: "lease-never-ends",
    caughtBy: ["I7"],
    options: crashes,
    store: (store) =>
      altered(store, {
        create: (commit, options) => store.create(commit, options?.claim ? { claim: forEver(options.claim) } : options),
        claim: (options) => store.claim(forEver(options)),
        renew: (claim) => store.renew(forEver(claim)),
      }),
  },
  {
    name: "lease-never-prolonged",
    caughtBy: ["I12"],
    options: { mode: "faultFree", faults: ["slowStep"] },
    seenStore: (store) =>
      altered(store, {
        async renew({ workflowId }) {
          const { version = 0, status = "active" } = (await store.load(workflowId)) ?? {};
          return { version, status, storeNow: 0 };
        },
      }),
  },
  {
    name: "wake-up-not-stored",
    caughtBy: ["I7"],
    seenStore: (store) => altered(store, { commit: (commit) => store.commit({ ...commit, wakeAt: null }) }),
  },
  {
    name: "nobody-looks-around",
    firstSeed: 23,
    caughtBy: ["I7"],
    options: { ...crashes, wakeUps: "both" },
    seenStore: (store) => altered(store, { claim: async (options) => (options.workflowId === undefined ? [] : store.claim(options)) }),
  },
  { name: "stale-load", caughtBy: ["I17"], store: stale },
  {
    name: "answers-before-it-writes",
    caughtBy: ["I5"],
    options: { mode: "liveness", faults: ["storeErrorBefore", "crash"] },
    seenStore: (store) => answeringEarly(store, ({ fence }) => fence === undefined),
  },
  {
    name: "cancel-acknowledged-first",
    firstSeed: 84,
    caughtBy: ["I6"],
    options: { mode: "liveness", faults: ["storeErrorBefore"] },
    seenStore: (store) => answeringEarly(store, ({ events }) => events[0]?.type === "cancelled"),
  },
  { name: "signal-key-forgotten", firstSeed: 8, caughtBy: ["I5b"], seenStore: keyless },
  {
    // a store that loses answers to claims parks the claimed executions
    name: "lost-claims-are-crashes",
    firstSeed: 14,
    caughtBy: ["I9"],
    options: { mode: "liveness", faults: ["crash", "partition", "storeSlow", "storeErrorAfter"] },
    seenStore: (store) =>
      altered(store, {
        claim: async (options) => (await store.claim(options)).map((claim) => ({ ...claim, crashes: claim.expired })),
      }),
  },
  {
    name: "crashes-not-counted",
    firstSeed: 126,
    caughtBy: ["I9"],
    options: { mode: "liveness", faults: ["crash", "slowStep", "storeSlow", "partition"] },
    seenStore: (store) =>
      altered(store, {
        claim: async (options) => (await store.claim(options)).map((claim) => ({ ...claim, crashes: 0 })),
      }),
  },
  {
    name: "message-acknowledged-before-its-work",
    caughtBy: ["rescues"],
    gate: messagesAreKept,
    seenQueue: (queue) => ({
      ...queue,
      consume: (handle, options) => queue.consume(async (delivery) => void handle(delivery).catch(() => undefined), options),
    }),
  },
  {
    name: "inbox-not-stored",
    firstSeed: 111,
    caughtBy: ["I10", "I7"],
    options: faultFree,
    seenStore: (store) => altered(store, { commit: ({ head: { inbox: _, ...head }, ...commit }) => store.commit({ ...commit, head }) }),
  },
  {
    name: "message-not-stored",
    firstSeed: 11,
    caughtBy: ["I10", "I7"],
    seenStore: (store) => altered(store, { commit: ({ head: { outbox: _, ...head }, ...commit }) => store.commit({ ...commit, head }) }),
  },
  {
    // one locked row delays all writes
    name: "one-write-at-a-time",
    firstSeed: 10,
    caughtBy: ["I7"],
    options: { mode: "liveness", faults: ["rowLock"] },
    store: oneAtATime,
  },
  {
    name: "what-one-process-lacks-is-kept-from-all",
    family: "crowds",
    caughtBy: ["I7"],
    options: { otherWorkers: true },
    store: broken("keeps what one process lacks from all others"),
  },
  {
    name: "what-is-given-back-is-lost",
    firstSeed: 8,
    caughtBy: ["I7"],
    options: { mode: "liveness", faults: ["restart"] },
    store: losingReleased,
  },
];

function broken(name: string): (store: SnapshotStore) => SnapshotStore {
  const found = brokenStores.find((one) => one.name === name);
  if (!found) throw new RangeError(`no broken store "${name}"`);
  return (store) => found.breaks(store);
}

function forEver<L extends { readonly leaseMs: number }>(lease: L): L {
  return { ...lease, leaseMs: 365 * 24 * 60 * 60_000 };
}

/** Applies a commit to whatever version is stored. */
async function force(store: SnapshotStore, commit: Commit): Promise<void> {
  try {
    await store.commit(commit);
  } catch (error) {
    if (!StepfoldError.is(error, "VERSION_CONFLICT") || error.details.actual === null) throw error;
    await force(store, rebased(commit, error.details.actual));
  }
}

/** Lets each commit wait for the one before it, even if that is of another execution. */
function oneAtATime(store: SnapshotStore): SnapshotStore {
  let last: Promise<unknown> = Promise.resolve();
  return altered(store, {
    commit(commit) {
      const mine = last.then(() => store.commit(commit));
      last = mine.catch(() => undefined);
      return mine;
    },
  });
}

/** Returns the state before the latest commit at every fifth load. */
function stale(store: SnapshotStore): SnapshotStore {
  const before = new Map<string, Awaited<ReturnType<SnapshotStore["load"]>>>();
  let loads = 0;
  return altered(store, {
    async commit(commit) {
      before.set(commit.workflowId, await store.load(commit.workflowId));
      await store.commit(commit);
    },
    load: async (workflowId) => (++loads % 5 === 0 ? before.get(workflowId) : undefined) ?? store.load(workflowId),
  });
}

function answeringEarly(store: SnapshotStore, which: (commit: Commit) => boolean): SnapshotStore {
  return altered(store, {
    async commit(commit) {
      const writing = store.commit(commit);
      if (which(commit)) writing.catch(() => undefined);
      else await writing;
    },
  });
}

function keyless(store: SnapshotStore): SnapshotStore {
  return altered(store, {
    async load(workflowId) {
      const snapshot = await store.load(workflowId);
      if (!snapshot) return null;
      const { answered: _, ...rest } = snapshot;
      return rest;
    },
  });
}

/** Does not hand out a released execution until another process commits to it. */
function losingReleased(store: SnapshotStore): SnapshotStore {
  const lost = new Set<string>();
  return altered(store, {
    async release(claim, version) {
      await store.release(claim, version);
      lost.add(claim.workflowId);
    },
    async commit(commit) {
      await store.commit(commit);
      if (commit.release && commit.wakeAt === 0) lost.add(commit.workflowId);
      else lost.delete(commit.workflowId);
    },
    async claim(options) {
      const claimed = await store.claim(options);
      for (const claim of claimed) if (lost.has(claim.workflowId)) await store.release(claim, claim.version);
      return claimed.filter(({ workflowId }) => !lost.has(workflowId));
    },
  });
}
