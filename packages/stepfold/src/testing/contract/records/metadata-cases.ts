import type { Event } from "../../../core/snapshot/event.ts";
import type { Json } from "../../../core/values/json.ts";
import type { ListQuery } from "../../../ports/execution-list.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type StepOptions, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, present } from "../../expectations.ts";

type Filter = NonNullable<ListQuery["metadata"]>;
type Metadata = Readonly<Record<string, Json>>;

/** What a store promises about metadata that changes. */
export const metadataCases: readonly ContractCase[] = [
  {
    name: "metadata: what an event has set is in the snapshot, the head and lists, and stays",
    async run({ store }) {
      const changed = await change(store, { kind: "order", step: 1 }, { kind: "order", step: 2, late: true });
      for (const commit of [changed, stepCommit(changed, { head: { metadata: changed.head.metadata } })]) {
        if (commit !== changed) await store.commit(commit);
        const { metadata } = changed.head;
        equal((await store.load("a"))?.metadata, metadata, "metadata of load");
        equal((await store.loadHead("a"))?.metadata, metadata, "metadata of loadHead");
        equal((await store.list()).items[0]?.metadata, metadata, "metadata in a list");
      }
      const [first] = await store.events("a", -1, 1);
      const { metadata } = present(first, "the first event").event as Event & { readonly metadata?: Metadata };
      equal(metadata, { kind: "order", step: 1 }, "metadata in the first event");
    },
  },
  {
    name: "metadata: lists find an execution by what it is now, and no more by what it was",
    async run({ store }) {
      await change(store, { kind: "order", step: 1, gone: "x" }, { kind: "order", step: 2, added: null });
      const now: Filter[] = [{ step: 2 }, { kind: "order" }, { added: null }, { kind: "order", step: 2 }];
      const before: Filter[] = [{ step: 1 }, { gone: "x" }, { kind: "order", step: 1 }];
      for (const metadata of now) equal(await listedIds(store, { metadata }), ["a"], JSON.stringify(metadata));
      for (const metadata of before) equal(await listedIds(store, { metadata }), [], JSON.stringify(metadata));
    },
  },
  {
    name: "metadata: a change comes with a step of the holder, with none at all, and with an end",
    async run({ store }) {
      const first = startCommit("a", { metadata: { step: 0 } });
      const claim = present(await store.create(first, { claim: { owner: "worker", leaseMs: 60_000 } }), "the claim of create");
      const byHolder = setting(first, { step: 1 }, { fence: claim.fence });
      await store.commit(byHolder);
      equal(await listedIds(store, { metadata: { step: 1 } }), ["a"], "by the holder");
      const byOther = setting(byHolder, { step: 2 });
      await store.commit(byOther);
      equal(await listedIds(store, { metadata: { step: 2 } }), ["a"], "by somebody else");
      await store.commit(setting(byOther, {}, { fence: claim.fence, status: "completed" }));
      equal(await listedIds(store, { metadata: { step: 2 } }), [], "with the end");
      equal((await store.load("a"))?.metadata, {}, "metadata at the end");
    },
  },
  {
    name: "metadata: a change keeps the tenant, and moves nothing that is due",
    async run({ store }) {
      const first = startCommit("a", { metadata: { step: 0 }, tenant: "t", status: "paused", wakeAt: null });
      await store.create(first);
      await store.commit(setting(first, { step: 1 }, { status: "paused", wakeAt: null }));
      equal(await listedIds(store, { tenant: "t", metadata: { step: 1 } }), ["a"], "of the tenant");
      equal((await store.load("a"))?.tenant, "t", "tenant");
      equal(await store.claim({ owner: "worker", leaseMs: 60_000, limit: 1 }), [], "claims");
    },
  },
];

/** Makes a commit whose event sets metadata. */
function setting(from: Commit, metadata: Metadata, options: StepOptions = {}): Commit {
  const event = (version: number): Event => ({ type: "metadataSet", version, at: 1_000, metadata });
  return stepCommit(from, { ...options, event, head: { metadata, ...options.head } });
}

async function change(store: SnapshotStore, before: Metadata, after: Metadata): Promise<Commit> {
  const first = startCommit("a", { metadata: before });
  await store.create(first);
  const changed = setting(first, after);
  await store.commit(changed);
  return changed;
}

async function listedIds(store: SnapshotStore, query: ListQuery): Promise<string[]> {
  return (await store.list(query)).items.map(({ workflowId }) => workflowId);
}
