import type { ChildState, Wait } from "../../snapshot/snapshot.ts";
import type { EpochMs } from "../../values/json.ts";

/** A wait of an execution, as lists find it. */
export interface ListedWait {
  /** As that of the wait. What only waits for the own children, or for a signal to arrive, is not listed. */
  readonly kind: Exclude<Wait["kind"], "children" | "delivery">;
  /** The node, without what is around it. */
  readonly nodeId: string;
  /** Name of the signal. */
  readonly signal?: string;
  /** Only a signal with the same key is meant. */
  readonly key?: string;
  /** Who may answer, and has not answered yet. Absent: anybody may. */
  readonly responders?: readonly string[];
  /** Since when it is open. Of several that differ in nothing else the first and the last one are listed. Absent: an earlier version has opened it. */
  readonly openedAt?: EpochMs;
}

/** Waits that differ in nothing but when they were opened. */
interface Alike {
  readonly one: ListedWait;
  first: EpochMs | undefined;
  last: EpochMs | undefined;
}

/** What a path waits for, if anything. */
export type WaitingPath = Readonly<{ nodeId: string; waits?: readonly Wait[] | undefined }>;
type Held = Readonly<{ nodeId: string; waits: readonly Wait[] }>;

/** Of the waits of an execution lists know the first ones: so many, where each name of somebody who may answer counts for one. */
const maxWaits = 100;
/** Characters of names in them. */
const maxCharacters = 8_000;

const none: readonly Held[] = [];

/**
 * What an execution waits for, as its row in the store says it. Only scopes that have changed are looked at again, so that a step that opens
 * and ends no wait costs nothing, however many children there are.
 */
export class ListedWaits {
  readonly #scopes = new Map<string, readonly Held[]>();
  /** What the store has, as JSON. */
  #stored: string;
  /** Whether the waits of any scope are others than those that the store has. */
  #isChanged = false;

  constructor(scopes: Iterable<readonly [key: string, paths: readonly WaitingPath[]]>) {
    // those of the execution itself come before those of its children
    this.#scopes.set("", none);
    for (const [key, paths] of scopes) this.put(key, paths);
    this.#stored = JSON.stringify(this.list());
    this.#isChanged = false;
  }

  /** What the store is to say from now on; null if that is what it has. */
  take(): readonly ListedWait[] | null {
    if (!this.#isChanged) return null;
    this.#isChanged = false;
    const open = this.list();
    const text = JSON.stringify(open);
    if (text === this.#stored) return null;
    this.#stored = text;
    return open;
  }

  /** The first ones. Those that differ in nothing but when they were opened are there once, or twice: so many alike ones take little room. */
  list(): readonly ListedWait[] {
    const open = new Map<string, Alike>();
    let [waits, characters] = [maxWaits, maxCharacters];
    for (const held of this.#scopes.values()) {
      for (const { nodeId, waits: own } of held) {
        for (const wait of own) {
          const one = listedWait(nodeId, wait);
          if (!one) continue;
          const text = JSON.stringify(one);
          waits -= Math.max(1, one.responders?.length ?? 0);
          characters -= text.length;
          if (open.size > 0 && (waits < 0 || characters < 0)) return listedOf(open.values());
          const alike = open.get(text);
          if (!alike) open.set(text, { one, first: wait.openedAt, last: wait.openedAt });
          else widen(alike, wait.openedAt);
        }
      }
    }
    return listedOf(open.values());
  }

  /** Takes over a scope that may have changed. */
  put(key: string, paths: readonly WaitingPath[]): void {
    const before = this.#scopes.get(key) ?? none;
    const held = heldBy(paths);
    if (isSame(before, held)) return;
    if (held.length > 0 || key === "") this.#scopes.set(key, held);
    else this.#scopes.delete(key);
    this.#isChanged = true;
  }
}

/** The waits of these paths; most steps leave none. */
function heldBy(paths: readonly WaitingPath[]): readonly Held[] {
  let held: Held[] | null = null;
  for (const { nodeId, waits } of paths) {
    if (!waits) continue;
    held ??= [];
    held.push({ nodeId, waits });
  }
  return held ?? none;
}

/** The waits of a path are another list whenever they change. */
function isSame(a: readonly Held[], b: readonly Held[]): boolean {
  return a === b || (a.length === b.length && a.every(({ waits }, index) => waits === b[index]!.waits));
}

function listedWait(nodeId: string, { kind, signal, key, responders, answers }: Wait): ListedWait | null {
  if (kind === "children" || kind === "delivery") return null;
  const left = answers ? responders?.filter((name) => !answers.some(({ by }) => by === name)) : responders;
  return {
    ...{ kind, nodeId },
    ...(signal !== undefined && { signal }),
    ...(key !== undefined && { key }),
    ...(left && { responders: firstNames(left) }),
  };
}

function widen(alike: Alike, openedAt: EpochMs | undefined): void {
  if (openedAt === undefined) return;
  alike.first = Math.min(alike.first ?? openedAt, openedAt);
  alike.last = Math.max(alike.last ?? openedAt, openedAt);
}

function listedOf(all: Iterable<Alike>): readonly ListedWait[] {
  const listed: ListedWait[] = [];
  for (const { one, first, last } of all) {
    listed.push(first === undefined ? one : { ...one, openedAt: first });
    if (last !== first) listed.push({ ...one, openedAt: last! });
  }
  return listed;
}

/** The first names, as many as lists hold: also where they are of the first wait. */
function firstNames(names: readonly string[]): readonly string[] {
  let characters = maxCharacters;
  return names.slice(0, maxWaits).filter((name) => {
    characters -= name.length;
    return characters >= 0;
  });
}

/** What an execution waits for, as lists are to find it. */
export function listedWaitsOf(held: {
  readonly activePaths: readonly WaitingPath[];
  readonly childStates?: Readonly<Record<string, ChildState>>;
}): readonly ListedWait[] {
  return new ListedWaits(scopesOf(held)).list();
}

/** Of a draft that was just opened. */
export function waitsOfSnapshot(held: Parameters<typeof listedWaitsOf>[0]): ListedWaits {
  return new ListedWaits(scopesOf(held));
}

function* scopesOf({ activePaths, childStates = {} }: Parameters<typeof listedWaitsOf>[0]): Generator<[string, readonly WaitingPath[]]> {
  yield ["", activePaths];
  for (const key in childStates) yield [key, childStates[key]!.activePaths];
}
