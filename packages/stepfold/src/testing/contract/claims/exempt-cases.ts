import type { Message } from "../../../core/snapshot/parts/message.ts";
import type { Claim, ClaimOptions, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, present } from "../../expectations.ts";
import { claimedIds, longLeaseMs, shortLeaseMs } from "./claiming.ts";
import { claimPermitted, create, fill } from "./permitted.ts";

const needs = { needs: "permits" } as const;

const hourMs = 3_600_000;
/** How long after the claim of the only permit a deadline passes, and how long a case waits for it. */
const deadlineMs = 30;
const waitMs = 100;

const message: Message = { id: "0.0", to: "another", type: "ended" };

/** What a store promises about executions that wait for a permit while there is something to handle that needs none. */
export const exemptCases: readonly ContractCase[] = [
  {
    name: "permit: one whose deadline has passed in the line is claimed without one, and counts for nothing",
    ...needs,
    async run({ store, advance }) {
      await fillLine(store);
      await advance(waitMs);
      equal(await claimed(store), ["late without permit"], "claimed");
      await create(store, "other", ["x", 2]);
      equal(await claimed(store, { workflowId: "other" }), ["other"], "one with a limit of 2, when only one has a permit");
    },
  },
  {
    name: "permit: one whose deadline has passed in the line is claimed by its id",
    ...needs,
    async run({ store, advance }) {
      await fillLine(store);
      await advance(waitMs);
      for (const id of ["patient", "early"]) equal(await claimed(store, { workflowId: id }), [], `claim of ${id}`);
      equal(await claimed(store, { permit: "x" }), [], "claim of the key");
      equal(await claimed(store, { workflowId: "late" }), ["late without permit"], "claim of the one whose deadline has passed");
    },
  },
  {
    name: "permit: one that waits for it is claimed without one to deliver messages, until they are delivered",
    ...needs,
    async run({ store }) {
      await fill(store, { held: ["x", 1] });
      await claimPermitted(store, { workflowId: "held" });
      const waiting = await create(store, "sender", ["x", 1]);
      const sending = stepCommit(waiting, { head: { outbox: [message] } });
      await store.commit(sending);
      const [claim, ...others] = await store.claim({ owner: "worker", leaseMs: longLeaseMs, limit: 50 });
      equal([present(claim, "a claim").withoutPermit, others.length], [true, 0], "claimed");
      await store.commit(stepCommit(sending, { fence: claim!.fence, head: { outbox: [] }, release: true }));
      equal(await claimedIds(store), [], "claimed afterwards");
    },
  },
  {
    name: "permit: one whose end is decided waits for it, whatever its deadline was",
    ...needs,
    async run({ store, advance }) {
      const { late } = await fillLine(store);
      await store.commit(stepCommit(late, { head: { ending: { status: "cancelled", nodeId: null, begun: [] } } }));
      await advance(waitMs);
      equal(await claimedIds(store), [], "claimed");
    },
  },
  {
    name: "permit: one that was claimed without one is claimed again when its lease has ended, not before",
    ...needs,
    async run({ store, advance }) {
      await fillLine(store);
      await advance(waitMs);
      equal(await claimed(store, { leaseMs: shortLeaseMs * 20, limit: 1 }), ["late without permit"], "claimed");
      equal(await claimed(store), [], "claimed while it is held");
      await advance(shortLeaseMs * 20 + 1);
      equal(await claimed(store), ["late without permit"], "claimed when the lease has ended");
    },
  },
  {
    name: "permit: those that need none at this moment are claimed up to the limit, the earliest deadline first",
    ...needs,
    async run({ store, advance }) {
      const { at } = await fillLine(store);
      await create(store, "later", ["x", 1], { head: { deadlineAt: at + 2 * deadlineMs } });
      await advance(waitMs);
      equal(await claimed(store, { overdueMs: hourMs }), [], "those whose deadline passed an hour ago");
      equal(await claimed(store, { limit: 1 }), ["late without permit"], "the first");
      equal(await claimed(store, { limit: 1 }), ["later without permit"], "the second");
    },
  },
  {
    name: "permit: one whose deadline was moved is claimed without one only when the new one has passed",
    ...needs,
    async run({ store, advance }) {
      const { late, at } = await fillLine(store);
      const moved = stepCommit(late, { head: { deadlineAt: at + hourMs } });
      await store.commit(moved);
      await advance(waitMs);
      equal(await claimedIds(store), [], "claimed");
      await store.commit(stepCommit(moved, { head: { deadlineAt: at } }));
      equal(await claimed(store), ["late without permit"], "claimed when its deadline has passed");
    },
  },
];

/**
 * Makes a line behind an execution that holds the only permit of its key: one whose deadline passes soon, one whose deadline is far, and one
 * without a deadline.
 */
async function fillLine(store: SnapshotStore): Promise<{ readonly at: number; readonly late: Commit }> {
  await create(store, "held", ["x", 1]);
  const { claimedAt: at } = (await claimPermitted(store, { workflowId: "held" })).claim;
  await create(store, "patient", ["x", 1]);
  await create(store, "early", ["x", 1], { head: { deadlineAt: at + hourMs } });
  const late = await create(store, "late", ["x", 1], { head: { deadlineAt: at + deadlineMs } });
  return { at, late };
}

/** Claims executions. Returns their ids, with a note for those that were claimed without a permit. */
async function claimed(store: SnapshotStore, asked: Partial<ClaimOptions> = {}): Promise<string[]> {
  const claims = await store.claim({ owner: "worker", leaseMs: longLeaseMs, limit: 50, ...asked });
  return claims.map(({ workflowId, withoutPermit }: Claim) => (withoutPermit ? `${workflowId} without permit` : workflowId)).sort();
}
