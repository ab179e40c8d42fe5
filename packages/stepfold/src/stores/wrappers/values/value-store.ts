import type { WorkflowDefinition } from "../../../core/definition/definition.ts";
import type { Event, StartedEvent } from "../../../core/snapshot/event.ts";
import { type Variables, withAddedItems } from "../../../core/snapshot/parts/variables.ts";
import { latestMetadata } from "../../../core/snapshot/restore.ts";
import type { Snapshot, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { requireStore } from "../../../core/values/check-arguments.ts";
import type { JsonObject } from "../../../core/values/json.ts";
import type { SeriesQuery } from "../../../ports/execution-counts.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../../ports/execution-list.ts";
import { countExecutions } from "../../../ports/list-fallbacks.ts";
import type { AppendedRow, ClaimOptions, Commit, SnapshotStore, StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { WorkerBeat } from "../../../ports/store-workers.ts";
import { type CheckedClaim, checkedStore, type StoreMethods } from "../../kit/checked-store.ts";
import { libraryBelow } from "../../kit/library-below.ts";
import { type CheckedQuery, type CheckedTrim, checkedQuery } from "../../kit/lists/checked-query.ts";
import { equalValues, isInRanges, isRange } from "../../kit/lists/metadata-range.ts";
import { describeLocation, isMarker, type ValueCodec, type ValueLocation } from "./codec.ts";
import { decodeMetadata, decodeValues, decodeWithMetadata } from "./decode-values.ts";
import { ValueEncoder } from "./encode-values.ts";
import {
  askedLayout,
  checkpointLayout,
  childLayout,
  errorLayout,
  eventLayout,
  headLayout,
  parkedLayout,
  snapshotLayout,
} from "./layout.ts";
import { orderedSender } from "./ordered-sender.ts";
import { refusePlainValues } from "./plain-values.ts";
import { incarnationOf } from "./read-all.ts";
import { unexpectedError } from "./rejected.ts";

/** The methods of a store for definitions. */
export type Definitions = Pick<SnapshotStore, "putDefinition" | "getDefinition">;

/** Methods in which one wrapper differs from the others. */
export interface ValueStoreOptions {
  /** Stores the encoded definitions. Default: the inner store. */
  readonly definitions?: Definitions;
  /** Replaces `delete`, `prune` and `trim` of the inner store. */
  readonly removal?: Pick<StoreMethods, "delete" | "prune" | "trim">;
}

/** Turns the checked options of a prune or a trim into those that a store takes. */
export function removalOptions<T extends CheckedTrim>({
  definitionId,
  ...options
}: T): Omit<T, "definitionId"> & { definitionId?: string } {
  return definitionId === null ? options : { ...options, definitionId };
}

/**
 * Makes a store that encodes the values of users before it passes them to the inner store, and decodes them when it reads. Callers get the
 * values as they gave them, as from the inner store without a wrapper.
 */
export function valueStore(
  name: string,
  inner: SnapshotStore,
  codec: ValueCodec,
  { definitions = inner, removal }: ValueStoreOptions = {},
): SnapshotStore {
  requireStore("inner", inner);
  const { send, idle } = orderedSender();
  // a call without values needs no preparation, but it is sent after the earlier commits too
  const nothing = Promise.resolve();
  const methods: StoreMethods = {
    name: `${name}(${inner.name})`,
    features: featuresOver(inner, codec),
    create: (commit, options) => send(commit.workflowId, encodeCommit(codec, commit), (encoded) => inner.create(encoded, options)),
    commit: (commit) => send(commit.workflowId, encodeCommit(codec, commit), (encoded) => inner.commit(encoded)),
    async load(workflowId) {
      const stored = await inner.load(workflowId);
      return stored && decodeSnapshot(codec, stored);
    },
    async loadHead(workflowId) {
      const stored = await inner.loadHead(workflowId);
      if (!stored) return null;
      const { context: _, ...head } = await decodeSnapshot(codec, { ...stored, context: {} });
      return head;
    },
    async claim(options) {
      const wanted = await claimOptionsFor(codec, options);
      return wanted ? inner.claim(wanted) : [];
    },
    renew: (claim) => send(claim.workflowId, nothing, () => inner.renew(claim)),
    release: (claim, version) => send(claim.workflowId, nothing, () => inner.release(claim, version)),
    now: () => inner.now(),
    events: (workflowId, afterVersion, limit) => readRows(codec, inner, workflowId, afterVersion, limit),
    ...listsOf(codec, inner),
    delete: (workflowId) => send(workflowId, nothing, () => (removal ?? inner).delete(workflowId)),
    prune: (options) => (removal ? removal.prune(options) : inner.prune(removalOptions(options))),
    trim: (options) => (removal ? removal.trim(options) : inner.trim(removalOptions(options))),
    putDefinition: (hash, definition, options) =>
      send(hash, encodeDefinition(codec, hash, definition), (encoded) => definitions.putDefinition(hash, encoded, options)),
    async getDefinition(hash) {
      const stored = await definitions.getDefinition(hash);
      return stored && decodeDefinition(codec, hash, stored);
    },
    // ids and hashes are not encoded
    ...libraryBelow(inner),
    // their names are hashes
    ...(inner.keptKeys && { keptKeys: inner.keptKeys }),
    async close() {
      await idle();
      await inner.close();
    },
  };
  return checkedStore(methods, unexpectedError(methods.name));
}

/**
 * Returns the features of the inner store, without `maxValueBytes`, because an encoded value has another size, and without `permits` if the
 * codec refuses them.
 */
function featuresOver({ features }: SnapshotStore, { permit }: ValueCodec): StoreFeatures {
  const { clock, durable, multiProcess, transactions, permits, taskQueues, lists, definitions, keys } = features;
  return {
    ...{ clock, durable, multiProcess },
    ...(transactions && { transactions }),
    ...(permits && !permit?.refusal && { permits }),
    ...(taskQueues && { taskQueues }),
    ...(lists && { lists }),
    ...(definitions && { definitions }),
    ...(keys && { keys }),
  };
}

/** Returns the methods that list executions and workers, as far as the inner store has them. */
function listsOf(
  codec: ValueCodec,
  inner: SnapshotStore,
): Pick<StoreMethods, "list" | "count" | "summaries" | "ended" | "beat" | "workers"> {
  return {
    list: (query) => readPage(codec, inner, query),
    ...(inner.count && {
      async count({ order: _, limit, cursor: __, ...query }: CheckedQuery) {
        if (!hasOwnRanges(codec, query)) return inner.count!(await queryFor(codec, query), limit);
        return countExecutions({ list: (listed) => readPage(codec, inner, checkedQuery(listed!)) }, query, limit);
      },
    }),
    ...(inner.summaries && {
      async summaries(ids: readonly string[]) {
        return Promise.all((await inner.summaries!(ids)).map((item) => decodeSummary(codec, item)));
      },
    }),
    ...(inner.ended && { ended: (query: SeriesQuery) => inner.ended!(query) }),
    ...(inner.beat && { beat: (beat: WorkerBeat) => inner.beat!(beat) }),
    ...(inner.workers && { workers: () => inner.workers!() }),
  };
}

function locationOf({
  workflowId,
  incarnation = null,
}: {
  readonly workflowId: string;
  readonly incarnation?: string | null;
}): ValueLocation {
  return { kind: "execution", id: workflowId, incarnation };
}

async function encodeCommit(codec: ValueCodec, commit: Commit): Promise<Commit> {
  const encoder = new ValueEncoder(codec);
  const { head, events, children, checkpoint } = commit;
  // the input never changes, and the metadata rarely, so other commits need not encode them again
  const { input: _, metadata, ...others } = head;
  const isFirst = commit.expectedVersion === -1;
  const setsMetadata = isFirst || commit.waits !== undefined || latestMetadata(events) !== undefined;
  const laterHead = setsMetadata ? { ...others, metadata } : others;
  if (isFirst && (head.permit ?? head.rate) && codec.permit?.refusal) throw codec.permit.refusal();
  const encoded = {
    head: encoder.copy<object>(headLayout, isFirst ? head : laterHead),
    events: events.map((event) => encoder.copy(eventLayout, event)),
    ...(checkpoint && { checkpoint: encoder.copy(checkpointLayout, checkpoint) }),
    ...(children && { children: children.map((child) => ({ key: child.key, head: child.head && encoder.copy(childLayout, child.head) })) }),
  };
  // the caller may change the commit while its values are encoded
  const rest = { ...commit };
  const waits = commit.waits && codec.waits ? codec.waits.encode(structuredClone(commit.waits)) : commit.waits;
  await encoder.fill({ ...locationOf(rest), run: isFirst ? 0 : (head.run?.number ?? 1) });
  return {
    ...rest,
    ...encoded,
    ...(waits && { waits: await waits }),
    head: (setsMetadata ? encoded.head : { ...encoded.head, metadata: {} }) as SnapshotHead,
  };
}

async function decodeSnapshot(codec: ValueCodec, stored: Snapshot): Promise<Snapshot> {
  const location = locationOf(stored);
  refusePlainValues(codec, snapshotLayout, stored, location);
  const decoded = withWholeLists(await decodeWithMetadata(codec, stored, location));
  const { childStates } = decoded;
  if (!childStates) return decoded;
  return { ...decoded, childStates: Object.fromEntries(Object.entries(childStates).map(([key, child]) => [key, withWholeLists(child)])) };
}

/** Puts lists together with what steps have added to them. */
function withWholeLists<T extends { readonly variables?: Variables }>(scope: T): T {
  if (!scope.variables) return scope;
  return {
    ...scope,
    variables: Object.fromEntries(Object.entries(scope.variables).map(([name, values]) => [name, values.map(withAddedItems)])),
  };
}

async function decodeEvent(codec: ValueCodec, event: Event, location: ValueLocation): Promise<Event> {
  refusePlainValues(codec, eventLayout, event, location);
  // an event with metadata is the first one, or has changed the metadata
  return "metadata" in event ? decodeWithMetadata(codec, event as StartedEvent, location) : decodeValues(codec, event, location);
}

/** Returns the claim options for the inner store; null if no execution can have the permit key. */
async function claimOptionsFor(codec: ValueCodec, { permit, ...others }: CheckedClaim): Promise<ClaimOptions | null> {
  if (permit === undefined || others.workflowId !== undefined) return others;
  const key = codec.permit ? await codec.permit.query(permit) : permit;
  return key === null ? null : { ...others, permit: key };
}

async function readRows(
  codec: ValueCodec,
  inner: SnapshotStore,
  workflowId: string,
  afterVersion: number,
  limit: number,
): Promise<AppendedRow[]> {
  const rows = await inner.events(workflowId, afterVersion, limit);
  const location = locationOf({
    workflowId,
    incarnation: codec.needsIncarnation && rows.length > 0 ? await incarnationOf(inner, workflowId) : null,
  });
  return Promise.all(rows.map(async (row) => ({ ...row, event: await decodeEvent(codec, row.event, { ...location }) })));
}

/** The most pages of the inner store that are read for one page. */
const maxPages = 20;

/**
 * Reads a page. It is full unless it is the last one, the inner store returned a short page, or `maxPages` are reached. Executions that
 * cannot be decoded are left out; if that is true of all executions of a first page, the error is thrown. If metadata are encoded as a
 * whole, bounds of metadata are checked here.
 */
async function readPage(codec: ValueCodec, inner: SnapshotStore, query: CheckedQuery): Promise<Page<ExecutionSummary>> {
  const wanted = await queryFor(codec, query);
  const items: ExecutionSummary[] = [];
  let failed: unknown;
  const isWanted = hasOwnRanges(codec, query) ? (item: ExecutionSummary) => isInRanges(item.metadata, query.metadata!) : () => true;
  let [pages, isAnyRead] = [0, false];
  for (let cursor = query.cursor; ; ) {
    const limit = query.limit - items.length;
    const page = await inner.list({ ...wanted, limit, ...(cursor !== undefined && { cursor }) });
    const settled = await Promise.allSettled(page.items.map((item) => decodeSummary(codec, item)));
    for (const one of settled) {
      if (one.status === "rejected") failed ??= one.reason;
      else isAnyRead = true;
      if (one.status === "fulfilled" && isWanted(one.value)) items.push(one.value);
    }
    if (page.nextCursor !== null && items.length < query.limit && page.items.length === limit && ++pages < maxPages) {
      cursor = page.nextCursor;
      continue;
    }
    if (!isAnyRead && failed !== undefined && query.cursor === undefined) throw failed;
    return { items, nextCursor: page.nextCursor };
  }
}

/** Returns true if a query has bounds of metadata that the inner store cannot check, because metadata are encoded as a whole. */
function hasOwnRanges(codec: ValueCodec, { metadata = {} }: ListQuery): boolean {
  return codec.metadata !== undefined && Object.values(metadata).some(isRange);
}

/** Turns a query into the query for the inner store. If metadata are encoded as a whole, bounds of metadata are left out. */
async function queryFor<Q extends ListQuery>(codec: ValueCodec, query: Q): Promise<Q> {
  const { metadata, waiting } = query;
  return {
    ...query,
    ...(metadata && { metadata: (await codec.metadata?.query(equalValues(metadata))) ?? metadata }),
    ...(waiting && { waiting: (await codec.waits?.query(waiting)) ?? waiting }),
  };
}

async function decodeSummary(codec: ValueCodec, item: ExecutionSummary): Promise<ExecutionSummary> {
  const location = locationOf(item);
  if (item.error) refusePlainValues(codec, errorLayout, item.error, location);
  if (item.parked) refusePlainValues(codec, parkedLayout, item.parked, location);
  if (item.asked) refusePlainValues(codec, askedLayout, item.asked, location);
  const [metadata, error, parked, asked] = await Promise.all([
    decodeMetadata(codec, item.metadata as JsonObject, location),
    decodeValues(codec, item.error, location),
    item.parked && decodeValues(codec, item.parked, location),
    item.asked && decodeValues(codec, item.asked, location),
  ]);
  return {
    ...item,
    metadata,
    error,
    ...(parked && { parked }),
    ...(asked && { asked }),
    ...(item.waits && codec.waits && { waits: codec.waits.decode(item.waits) }),
  };
}

/** Encodes a definition: makes an empty definition with the same id and a marker in its metadata, unless the codec leaves it as it is. */
async function encodeDefinition(codec: ValueCodec, hash: string, definition: WorkflowDefinition): Promise<WorkflowDefinition> {
  const text = JSON.stringify(definition);
  const [marker] = await codec.encode([text], { kind: "definition", id: hash, incarnation: null });
  if (marker) return { id: definition.id, nodes: [], edges: [], metadata: { [codec.mark]: 1, ...marker } };
  if (text.includes(`"${codec.mark}`)) return { id: definition.id, nodes: [], edges: [], metadata: { [codec.mark]: 1, json: text } };
  return JSON.parse(text) as WorkflowDefinition;
}

async function decodeDefinition(codec: ValueCodec, hash: string, stored: WorkflowDefinition): Promise<WorkflowDefinition> {
  const { metadata } = stored;
  const location: ValueLocation = { kind: "definition", id: hash, incarnation: null };
  if (metadata !== undefined && isMarker(codec.mark, metadata))
    return decodeValues<WorkflowDefinition | JsonObject>(codec, metadata, location) as Promise<WorkflowDefinition>;
  if (codec.refusePlain) throw codec.refusePlain(`${describeLocation(location)} is stored`);
  return stored;
}
