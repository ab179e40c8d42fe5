import { StepfoldError } from "../errors/stepfold-error.ts";
import type { Json } from "../values/json.ts";
import { scopedKey } from "./address.ts";
import type {
  CompletedEvent,
  ContinuedEvent,
  Event,
  FailedEvent,
  ItemAddedEvent,
  RestartedEvent,
  SpawnedEvent,
  StartedEvent,
  TimedOutEvent,
} from "./event.ts";
import type { HeldResults, HistoryCheckpoint } from "./history-checkpoint.ts";
import { valueInEvents, wholeHead } from "./large-values.ts";
import { type AnsweredKey, addKey, forgetKey, type KeyRows } from "./parts/answered-key.ts";
import type { Variables, VariableValue } from "./parts/variables.ts";
import { readableOf } from "./parts/variables.ts";
import { answeredKeyOf, resultOf } from "./result.ts";
import {
  type ChildHead,
  type ChildState,
  type CompensationResult,
  isTerminal,
  type NodeResult,
  type ScopeHead,
  type Snapshot,
  type SnapshotHead,
} from "./snapshot.ts";

/** The parts of a snapshot that a store keeps and writes separately. */
export interface StoredParts {
  readonly head: SnapshotHead;
  /** Heads of the children that exist, in order of creation. */
  readonly children: Iterable<readonly [key: string, head: ChildHead]>;
  /** The whole history, oldest first; with a checkpoint only the events after it. */
  readonly events: Iterable<Event>;
  readonly checkpoint?: HistoryCheckpoint | null;
}

/**
 * Returns the snapshot that the parts in a store describe. The heads hold only a part of it: results, variables, items of maps, results of
 * compensations, idempotency keys, schemas of payloads and large values are read from the checkpoint and the events.
 *
 * A node with `keep` holds only its last results. The history may still have older ones, so these are in the snapshot again; `openDraft`
 * drops them.
 */
export function restore({ head, children, events, checkpoint }: StoredParts): Snapshot {
  const all = [...events];
  const history = new History({ head, children, events: all });
  if (checkpoint) history.goOnFrom(checkpoint);
  for (const event of all) history.add(event);
  history.fillChildren();
  const snapshot: { -readonly [K in keyof Snapshot]: Snapshot[K] } = { ...history.filled(head), context: history.context };
  const variables = history.variablesOf("");
  if (variables) snapshot.variables = variables;
  if (history.children.size > 0) snapshot.childStates = Object.fromEntries(history.children);
  const mapItems = history.itemsOf(snapshot);
  if (mapItems.size > 0) snapshot.mapItems = Object.fromEntries(mapItems);
  if (history.compensations.length > 0) snapshot.compensations = history.compensations;
  // an execution remembers idempotency keys only if it is in a store; then it has an incarnation
  const answered = head.incarnation === undefined ? [] : history.answeredSince(head.keyRows?.before ?? 0);
  if (answered.length > 0) snapshot.answered = answered;
  if (history.schemas) snapshot.schemas = history.schemas;
  return snapshot;
}

function arrivalsOf({ activePaths }: Pick<ScopeHead, "activePaths">): readonly number[] {
  return activePaths.map(({ since }) => since);
}

/** Removes the results after a version. */
function forgetAfter(context: Results, since: number): void {
  for (const [nodeId, results] of Object.entries(context)) {
    const kept = results.filter(({ version }) => version <= since);
    if (kept.length === 0) delete context[nodeId];
    else context[nodeId] = kept;
  }
}

/** Returns the metadata after the last of these events that has changed it; undefined if none has. The event `started` does not count. */
export function latestMetadata(events: readonly Event[]): StartedEvent["metadata"] | undefined {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index]!;
    if ((event.type === "metadataSet" || event.type === "completed" || event.type === "continued") && event.metadata) return event.metadata;
  }
  return undefined;
}

type Results = Record<string, NodeResult[]>;

/** Collects what the events of an execution, and its checkpoint, hold. */
class History {
  readonly context: Results = {};
  readonly children = new Map<string, ChildState & { readonly context: Results }>();
  readonly compensations: CompensationResult[] = [];
  readonly #events: readonly Event[];
  /** The large values in the checkpoint, by the reference with which heads name them, such as `7/output` (see `InEvents`). */
  #values: NonNullable<HistoryCheckpoint["values"]> = {};
  /** The latest idempotency keys, oldest first. */
  answered: AnsweredKey[] = [];
  /** The days of the keys as the events tell them. The head has them too, and what it has counts. */
  keyRows: KeyRows | undefined;
  schemas: Snapshot["schemas"];
  /** Values of variables by the key of their scope. */
  readonly #variables = new Map<string, Map<string, VariableValue[]>>();
  /** Items of every map, and the input of every sub-workflow as a list of one, by the key of the children, such as `0#1/3>0#2`. */
  readonly #items = new Map<string, Json[]>();
  /** By path: the items of its last map, to which items can be added. It is the same list as in `#items`, so an item is in both. */
  readonly #latest = new Map<string, Json[]>();

  /** The lists that were made here, so that they may grow. */
  readonly #grown = new Set<readonly Json[]>();

  /** When the open paths of a scope have arrived at their nodes, by the key of the scope. */
  readonly #arrivals = new Map<string, readonly number[]>();

  constructor({
    head,
    children,
    events,
  }: { readonly head: ScopeHead; readonly children: StoredParts["children"]; readonly events: readonly Event[] }) {
    this.#events = events;
    this.#arrivals.set("", arrivalsOf(head));
    for (const [key, child] of children) {
      this.children.set(key, { ...child, context: {} });
      this.#arrivals.set(key, arrivalsOf(child));
    }
  }

  /** Begins with what the checkpoint holds. It must be called before the events are added. */
  goOnFrom(checkpoint: HistoryCheckpoint): void {
    this.#takeOver(checkpoint);
    this.answered.push(...(checkpoint.answered ?? []));
    this.#values = checkpoint.values ?? {};
  }

  /** Returns the head of a scope with its large values put back in. Stored heads only refer to them. */
  filled<H extends ScopeHead>(head: H): H {
    return wholeHead(head, (at) => this.#valueAt(at));
  }

  fillChildren(): void {
    for (const [key, child] of this.children) {
      const variables = this.variablesOf(key);
      this.children.set(key, { ...this.filled(child), ...(variables && { variables }) });
    }
  }

  /** Returns the variables of a scope that its paths can still read; undefined if it has none. */
  variablesOf(key: string): Variables | undefined {
    const variables = this.#variables.get(key);
    const arrivals = this.#arrivals.get(key)!;
    return variables && readableOf(Object.fromEntries(variables), arrivals);
  }

  add(event: Event): void {
    switch (event.type) {
      case "started":
        if (event.checkpoint) this.#takeOver(event.checkpoint.state);
        this.answered.push(...(event.checkpoint?.state.answered ?? []));
        break;
      case "continued":
        this.#beginRun(event);
        break;
      case "restarted":
        this.#reopen(event);
        break;
      case "spawned":
        this.#begin(event);
        break;
      case "suspended":
        if (event.schemas) this.schemas = { ...this.schemas, ...event.schemas };
        break;
      case "answerRefused":
        // the idempotency key of a refused answer may be used again
        if (event.answer !== undefined) forgetKey(this, event.answer);
        break;
      case "itemAdded":
        this.#addItem(event);
        break;
      case "resumed":
      case "signalled":
      case "metadataSet":
        this.#addKey(event);
        break;
      case "completed":
        if (event.variables) this.#setVariables(event.scope ?? "", event.variables, event.version);
        if (event.appended) this.#appendItems(event.scope ?? "", event.appended, event.version);
        this.#addResult(event);
        break;
      case "failed":
      case "timedOut":
        this.#addResult(event);
    }
    const { consequences } = event;
    if (consequences?.results) for (const { scope, nodeId, result } of consequences.results) this.#append(scope, nodeId, result);
  }

  /**
   * Returns the items of the maps that still exist. The key of the children tells which these are: if a map goes on before all items have
   * ended, a new (draining) path takes over the rest of the items, but their key stays.
   */
  itemsOf(snapshot: Snapshot): Map<string, readonly Json[]> {
    const there = new Set<string>();
    for (const [scope, { activePaths }] of [["", snapshot] as const, ...this.children]) {
      for (const { children } of activePaths) if (children?.map) there.add(scopedKey(scope, children.key));
    }
    return new Map([...this.#items].filter(([key]) => there.has(key)));
  }

  /**
   * Returns a large value: `7/output` is in event 7, `items/0#2/3` is item 3 of a map.
   *
   * @throws StepfoldError `SNAPSHOT_INVALID` if it is missing
   */
  #valueAt(at: string): Json {
    const value = Object.hasOwn(this.#values, at)
      ? this.#values[at]
      : at.startsWith("items/")
        ? this.#itemAt(at)
        : valueInEvents(this.#events, at);
    if (value === undefined)
      throw new StepfoldError("SNAPSHOT_INVALID", { pointer: "", reason: `refers to ${at}, which is not in the events` });
    return value;
  }

  #itemAt(at: string): Json | undefined {
    const slash = at.lastIndexOf("/");
    return this.#items.get(at.slice("items/".length, slash))?.[Number(at.slice(slash + 1))];
  }

  /** Adds a state: that of the checkpoint before the events, or of the execution from which this one goes on, for example as a fork. */
  #takeOver({ context, variables, childStates = {}, mapItems = {}, compensations = [], schemas }: HeldResults): void {
    this.schemas = schemas;
    for (const [key, scope] of [["", { context, variables }] as const, ...Object.entries(childStates)]) {
      for (const [name, values] of Object.entries(scope.variables ?? {})) this.#valuesOf(key, name)?.push(...values);
      for (const [nodeId, results] of Object.entries(scope.context))
        for (const result of results) this.#append(key || undefined, nodeId, result);
    }
    for (const [key, given] of Object.entries(mapItems)) {
      const items = [...given];
      this.#items.set(key, items);
      // a later map of the same path comes later, and replaces the entry
      this.#latest.set(key.slice(0, key.lastIndexOf("#")), items);
    }
    this.compensations.push(...compensations);
  }

  /** A run has no results of the runs before it. */
  #beginRun({ variables = {}, version }: ContinuedEvent): void {
    forgetAfter(this.context, Number.NEGATIVE_INFINITY);
    this.compensations.length = 0;
    this.schemas = undefined;
    this.#variables.clear();
    this.#items.clear();
    this.#latest.clear();
    this.#setVariables("", variables, version);
  }

  /** Takes the children and items of an execution that is restarted; its own results are those of the history before. */
  #reopen(event: RestartedEvent): void {
    const { state, dropsCompensations, since } = event;
    this.#addKey(event);
    const { childStates = {}, mapItems = {} } = state;
    if (dropsCompensations) this.compensations.length = 0;
    for (const key of Object.keys(childStates)) {
      const context = this.#contextOf(key);
      if (context) forgetAfter(context, Number.NEGATIVE_INFINITY);
      this.#variables.delete(key);
    }
    if (since !== undefined) forgetAfter(this.context, since);
    if (since !== undefined || state.variables) {
      this.#variables.delete("");
      for (const [name, values] of Object.entries(state.variables ?? {})) this.#valuesOf("", name)?.push(...values);
    }
    this.#takeOver({ context: {}, childStates, mapItems, schemas: this.schemas });
  }

  #begin({ scope = "", pathId, visit, children: { map, input } }: SpawnedEvent): void {
    const items = map ? [...map.items] : input === undefined ? [] : [input];
    this.#items.set(scopedKey(scope, `${pathId}#${visit}`), items);
    if (map) this.#latest.set(scopedKey(scope, pathId), items);
  }

  #addItem({ scope = "", pathId, item }: ItemAddedEvent): void {
    this.#latest.get(scopedKey(scope, pathId))?.push(item);
  }

  /** The keys of events from a version on: the store has the earlier ones in rows. */
  answeredSince(version: number): readonly AnsweredKey[] {
    return version === 0 ? this.answered : this.answered.filter((given) => given.version >= version);
  }

  #addKey(event: Event): void {
    const answered = answeredKeyOf(event);
    if (answered) addKey(this, answered);
  }

  #addResult(event: CompletedEvent | FailedEvent | TimedOutEvent): void {
    const { nodeId, result } = resultOf(event);
    const undoes = "undoes" in event ? event.undoes : undefined;
    if (!undoes) this.#append(event.scope, nodeId, result);
    // a compensation that is attempted again has no result yet
    else if (event.type !== "failed" || event.retryAt === null) {
      const { pathId: _, ...rest } = result;
      this.compensations.push({ nodeId, undoes, ...rest });
    }
  }

  #setVariables(scope: string, values: Readonly<Record<string, Json>>, version: number): void {
    for (const [name, value] of Object.entries(values)) this.#valuesOf(scope, name)?.push({ value, version });
  }

  /** Adds items to lists. A list that no open path can read any more grows in place, because it may have grown very often. */
  #appendItems(scope: string, appended: Readonly<Record<string, Json>>, version: number): void {
    for (const [name, items] of Object.entries(appended)) {
      // nothing to build on: the scope is gone
      const values = this.#variables.get(scope)?.get(name);
      if (!values) continue;
      const latest = values.at(-1)!;
      const isRead = this.#arrivals.get(scope)!.some((since) => latest.version <= since && since < version);
      if (!isRead) values.pop();
      const { value, added } = latest;
      // an encoded list cannot be put together with its items here
      if (added || !Array.isArray(value) || !Array.isArray(items))
        values.push({ value, version, added: this.#grownBy([items], added ?? [], isRead) });
      else values.push({ value: this.#grownBy(items, value, isRead), version });
    }
  }

  /** Returns a list with more items at its end: a new list, or one that was made here before, if nobody reads that any more. */
  #grownBy(items: readonly Json[], before: readonly Json[], isRead: boolean): Json[] {
    const list = this.#grown.has(before) && !isRead ? (before as Json[]) : [...before];
    for (const item of items) list.push(item);
    this.#grown.add(list);
    return list;
  }

  #valuesOf(scope: string, name: string): VariableValue[] | null {
    if (!this.#contextOf(scope)) return null;
    if (!this.#variables.has(scope)) this.#variables.set(scope, new Map());
    const variables = this.#variables.get(scope)!;
    if (!variables.has(name)) variables.set(name, []);
    return variables.get(name)!;
  }

  #append(scope: string | undefined, nodeId: string, result: NodeResult): void {
    const context = this.#contextOf(scope ?? "");
    if (!context) return;
    if (!Object.hasOwn(context, nodeId)) context[nodeId] = [];
    context[nodeId]!.push(result);
  }

  /** Returns where results of a scope are added; null if they are not needed: the child is gone, or has ended and is not `kept`. */
  #contextOf(scope: string): Results | null {
    if (scope === "") return this.context;
    const child = this.children.get(scope);
    return child && (!isTerminal(child.status) || child.kept) ? child.context : null;
  }
}
