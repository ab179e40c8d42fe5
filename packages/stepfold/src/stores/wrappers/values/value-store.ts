import type { WorkflowDefinition } from "../../../core/definition/definition.ts";
import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Event, StartedEvent } from "../../../core/snapshot/event.ts";
import type { Snapshot, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { JsonObject } from "../../../core/values/json.ts";
import type {
  AppendedRow,
  Claimed,
  ClaimOptions,
  Commit,
  ExecutionSummary,
  ListQuery,
  Page,
  PruneOptions,
  SnapshotStore,
} from "../../../ports/snapshot-store.ts";
import { type CheckedClaim, type CheckedPrune, type CheckedQuery, checkedStore, type StoreMethods } from "../../kit/checked-store.ts";
import { isMarker, type Place, type ValueCodec } from "./codec.ts";
import { openMetadata, openValues, openWhole } from "./decode-values.ts";
import { Sealing } from "./encode-values.ts";
import { childShape, eventShape, headShape } from "./layout.ts";
import { inOrder } from "./ordered-sender.ts";

/** Where definitions are kept. */
export type Definitions = Pick<SnapshotStore, "putDefinition" | "getDefinition">;

/** What of a wrapping store is not the same for all. */
export interface Special {
  /** Default: the store below. */
  readonly definitions?: Definitions;
  /** Instead of those of the store below. */
  readonly removal?: Pick<StoreMethods, "delete" | "prune">;
}

/** The first event tells it. */
export async function incarnationOf(store: Pick<SnapshotStore, "events">, workflowId: string): Promise<string | null> {
  const [row] = await store.events(workflowId, -1, 1);
  return row ? ((row.event as StartedEvent).incarnation ?? null) : null;
}

/** Prune options as a store takes them. */
export function pruneOptions({ definitionId, ...options }: CheckedPrune): PruneOptions {
  return definitionId === null ? options : { ...options, definitionId };
}

/**
 * A store that keeps the values of users in another store as a codec makes them. What it gives is what the other one
 * would give without it.
 */
export function valueStore(
  name: string,
  inner: SnapshotStore,
  codec: ValueCodec,
  { definitions = inner, removal }: Special = {},
): SnapshotStore {
  const { send, idle } = inOrder();
  // the size that a value may have is another one here
  const { clock, durable, multiProcess, transactions } = inner.features;
  const permits = inner.features.permits && !codec.permit?.refused;
  // what follows a commit that nobody waited for comes after it
  const nothing = Promise.resolve();
  const methods: StoreMethods = {
    name: `${name}(${inner.name})`,
    features: { clock, durable, multiProcess, ...(transactions && { transactions }), ...(permits && { permits }) },
    create: (commit, options) => send(commit.workflowId, sealedCommit(codec, commit), (sealed) => inner.create(sealed, options)),
    commit: (commit) => send(commit.workflowId, sealedCommit(codec, commit), (sealed) => inner.commit(sealed)),
    async load(workflowId) {
      const stored = await inner.load(workflowId);
      return stored && openSnapshot(codec, stored);
    },
    async claim(options) {
      const asked = await askedClaim(codec, options);
      return asked ? openClaimed(codec, await inner.claim(asked)) : [];
    },
    renew: (claim) => send(claim.workflowId, nothing, () => inner.renew(claim)),
    release: (claim, version) => send(claim.workflowId, nothing, () => inner.release(claim, version)),
    now: () => inner.now(),
    events: (workflowId, afterVersion, limit) => openRows(codec, inner, workflowId, afterVersion, limit),
    list: (query) => listed(codec, inner, query),
    delete: (workflowId) => send(workflowId, nothing, () => (removal ?? inner).delete(workflowId)),
    prune: (options) => (removal ? removal.prune(options) : inner.prune(pruneOptions(options))),
    putDefinition: (hash, definition) =>
      send(hash, sealedDefinition(codec, hash, definition), (sealed) => definitions.putDefinition(hash, sealed)),
    async getDefinition(hash) {
      const stored = await definitions.getDefinition(hash);
      return stored && openDefinition(codec, hash, stored);
    },
    async close() {
      await idle();
      await inner.close();
    },
  };
  return checkedStore(methods, (cause) => {
    const reason = cause instanceof Error ? cause.message : "an unknown error";
    return new StepfoldError("STORE_REJECTED", { store: methods.name, reason }, { cause });
  });
}

function placeOf({ workflowId, incarnation = null }: { readonly workflowId: string; readonly incarnation?: string | null }): Place {
  return { kind: "execution", id: workflowId, incarnation };
}

async function sealedCommit(codec: ValueCodec, commit: Commit): Promise<Commit> {
  const sealing = new Sealing(codec);
  const { head, events, children } = commit;
  // they stay as `create` wrote them, however large
  const { input: _, metadata: __, ...later } = head;
  const isFirst = commit.expectedVersion === -1;
  if (isFirst && head.permit && codec.permit?.refused) throw codec.permit.refused();
  const copied = {
    head: sealing.copy<object>(headShape, isFirst ? head : later),
    events: events.map((event) => sealing.copy(eventShape, event)),
    ...(children && { children: children.map((child) => ({ key: child.key, head: child.head && sealing.copy(childShape, child.head) })) }),
  };
  // the commit too may be changed by its owner while this takes its time
  const rest = { ...commit };
  await sealing.filled(placeOf(rest));
  return { ...rest, ...copied, head: (isFirst ? copied.head : { ...copied.head, metadata: {} }) as SnapshotHead };
}

function openSnapshot(codec: ValueCodec, stored: Snapshot): Promise<Snapshot> {
  return openWhole(codec, stored, placeOf(stored));
}

async function openEvent(codec: ValueCodec, event: Event, place: Place): Promise<Event> {
  return event.type === "started" ? openWhole(codec, event, place) : openValues(codec, event, place);
}

/** Null if there can be none. */
async function askedClaim(codec: ValueCodec, { permit, ...others }: CheckedClaim): Promise<ClaimOptions | null> {
  if (permit === undefined || others.workflowId !== undefined) return others;
  const key = codec.permit ? await codec.permit.query(permit) : permit;
  return key === null ? null : { ...others, permit: key };
}

/** Those that can be read: what is wrong with one must not keep the others from going on. It stays claimed until its lease ends. */
async function openClaimed(codec: ValueCodec, claimed: readonly Claimed[]): Promise<Claimed[]> {
  const settled = await Promise.allSettled(
    claimed.map(async ({ claim, snapshot }) => ({ claim, snapshot: await openSnapshot(codec, snapshot) })),
  );
  return readable(settled);
}

function readable<T>(settled: readonly PromiseSettledResult<T>[]): T[] {
  const read = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = settled.find((one) => one.status === "rejected");
  // a wrong key would otherwise look like a store with nothing to do
  if (read.length === 0 && failed) throw failed.reason;
  return read;
}

async function openRows(
  codec: ValueCodec,
  inner: SnapshotStore,
  workflowId: string,
  afterVersion: number,
  limit: number,
): Promise<AppendedRow[]> {
  const rows = await inner.events(workflowId, afterVersion, limit);
  const place = placeOf({ workflowId, incarnation: codec.bound && rows.length > 0 ? await incarnationOf(inner, workflowId) : null });
  return Promise.all(rows.map(async (row) => ({ ...row, event: await openEvent(codec, row.event, place) })));
}

/** A full page, without what cannot be read. */
async function listed(codec: ValueCodec, inner: SnapshotStore, { metadata, ...query }: CheckedQuery): Promise<Page<ExecutionSummary>> {
  const asked: ListQuery = metadata ? { ...query, metadata: (await codec.metadata?.query(metadata)) ?? metadata } : query;
  const items: ExecutionSummary[] = [];
  let failed: unknown;
  for (let cursor = query.cursor; ; ) {
    const page = await inner.list({ ...asked, limit: query.limit - items.length, ...(cursor !== undefined && { cursor }) });
    const settled = await Promise.allSettled(page.items.map((item) => openSummary(codec, item)));
    for (const one of settled) {
      if (one.status === "fulfilled") items.push(one.value);
      else failed ??= one.reason;
    }
    if (page.nextCursor !== null && items.length < query.limit) {
      cursor = page.nextCursor;
      continue;
    }
    if (items.length === 0 && failed !== undefined && query.cursor === undefined) throw failed;
    return { items, nextCursor: page.nextCursor };
  }
}

async function openSummary(codec: ValueCodec, item: ExecutionSummary): Promise<ExecutionSummary> {
  return { ...item, metadata: await openMetadata(codec, item.metadata as JsonObject, placeOf(item)) };
}

/** A definition with nothing in it but what the codec made of the real one. */
async function sealedDefinition(codec: ValueCodec, hash: string, definition: WorkflowDefinition): Promise<WorkflowDefinition> {
  const text = JSON.stringify(definition);
  const [marker] = await codec.seal([text], { kind: "definition", id: hash, incarnation: null });
  if (marker) return { id: definition.id, nodes: [], edges: [], metadata: { [codec.mark]: 1, ...marker } };
  if (text.includes(`"${codec.mark}`)) return { id: definition.id, nodes: [], edges: [], metadata: { [codec.mark]: 1, json: text } };
  return JSON.parse(text) as WorkflowDefinition;
}

async function openDefinition(codec: ValueCodec, hash: string, stored: WorkflowDefinition): Promise<WorkflowDefinition> {
  const { metadata } = stored;
  if (metadata === undefined || !isMarker(codec.mark, metadata)) return stored;
  return openValues<WorkflowDefinition | JsonObject>(codec, metadata, {
    kind: "definition",
    id: hash,
    incarnation: null,
  }) as Promise<WorkflowDefinition>;
}
