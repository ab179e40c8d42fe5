import type { Wait } from "../../snapshot/parts/wait.ts";
import type { ChildState } from "../../snapshot/snapshot.ts";
import type { EpochMs } from "../../values/json.ts";

/** An open wait of an execution, as the store keeps it so that lists of executions can be filtered by waits. */
export interface ListedWait {
  /** The kind of the wait. Waits for sub-workflows and items of maps, and for the delivery of a signal, are not listed. */
  readonly kind: Exclude<Wait["kind"], "children" | "delivery">;
  /** The id of the node, without the maps and sub-workflows around it. */
  readonly nodeId: string;
  /** The name of the signal. */
  readonly signal?: string;
  /** The key of the signal: the wait takes only a signal with the same key. */
  readonly key?: string;
  /** The people who may answer and have not answered yet, as far as they fit (see `firstNames`). Absent: anybody may answer. */
  readonly responders?: readonly string[];
  /**
   * The time at which the wait was opened. Of waits that differ only in this time, the first and the last one are listed. Absent: an
   * earlier version of Stepfold, which did not record the time, has opened the wait.
   */
  readonly openedAt?: EpochMs;
}

/** Waits that differ only in the time at which they were opened: the first and the last of these times. */
interface Alike {
  readonly one: ListedWait;
  first: EpochMs | undefined;
  last: EpochMs | undefined;
}

/** A path that may have waits. */
export type WaitingPath = Readonly<{ nodeId: string; waits?: readonly Wait[] | undefined }>;
/** The waits of one path. */
type Held = Readonly<{ nodeId: string; waits: readonly Wait[] }>;

/**
 * The list of one execution ends after this number of waits. A wait with responders counts once for each of them. Waits that differ only in
 * the time at which they were opened all count.
 */
const maxWaits = 100;
/** The list of one execution ends before its waits have more characters of JSON than this. Waits count as for `maxWaits`. */
const maxCharacters = 8_000;

const none: readonly Held[] = [];

/**
 * The waits of an execution, as its row in the store lists them. Only scopes that have changed are examined again, so a step that neither
 * opens nor ends a wait costs little, even if the execution has many children.
 */
export class ListedWaits {
  /** The paths with waits, by the key of their scope. */
  readonly #scopes = new Map<string, readonly Held[]>();
  /** The waits that the store has, as JSON. */
  #stored: string;
  /** Whether the waits of any scope have changed since the last `take`. */
  #isChanged = false;

  constructor(scopes: Iterable<readonly [key: string, paths: readonly WaitingPath[]]>) {
    // the entry of the execution itself is added first, so that its waits come before those of its children
    this.#scopes.set("", none);
    for (const [key, paths] of scopes) this.put(key, paths);
    this.#stored = JSON.stringify(this.list());
    this.#isChanged = false;
  }

  /** Returns the waits that the next commit must write; null if the store has the same waits already. */
  take(): readonly ListedWait[] | null {
    if (!this.#isChanged) return null;
    this.#isChanged = false;
    const open = this.list();
    const text = JSON.stringify(open);
    if (text === this.#stored) return null;
    this.#stored = text;
    return open;
  }

  /**
   * Returns the first waits, up to the limits, but always the first one. Of waits that differ only in the time at which they were opened,
   * two at most are listed.
   */
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

  /** Replaces the waits of a scope that may have changed. */
  put(key: string, paths: readonly WaitingPath[]): void {
    const before = this.#scopes.get(key) ?? none;
    const held = heldBy(paths);
    if (isSame(before, held)) return;
    if (held.length > 0 || key === "") this.#scopes.set(key, held);
    else this.#scopes.delete(key);
    this.#isChanged = true;
  }
}

/** Returns the waits of these paths. Most scopes have none after a step, so no list is created for them. */
function heldBy(paths: readonly WaitingPath[]): readonly Held[] {
  let held: Held[] | null = null;
  for (const { nodeId, waits } of paths) {
    if (!waits) continue;
    held ??= [];
    held.push({ nodeId, waits });
  }
  return held ?? none;
}

/** Compares the lists of waits by identity: a path gets a new list whenever its waits change. */
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

/** Limits the names of one wait: `list` always lists the first wait, even if it has too many names. */
function firstNames(names: readonly string[]): readonly string[] {
  let characters = maxCharacters;
  return names.slice(0, maxWaits).filter((name) => {
    characters -= name.length;
    return characters >= 0;
  });
}

/** Returns the waits of an execution that the store lists. */
export function listedWaitsOf(held: {
  readonly activePaths: readonly WaitingPath[];
  readonly childStates?: Readonly<Record<string, ChildState>>;
}): readonly ListedWait[] {
  return new ListedWaits(scopesOf(held)).list();
}

/** Returns the listed waits of a draft that was just opened from a snapshot in the store. */
export function waitsOfSnapshot(held: Parameters<typeof listedWaitsOf>[0]): ListedWaits {
  return new ListedWaits(scopesOf(held));
}

function* scopesOf({ activePaths, childStates = {} }: Parameters<typeof listedWaitsOf>[0]): Generator<[string, readonly WaitingPath[]]> {
  yield ["", activePaths];
  for (const key in childStates) yield [key, childStates[key]!.activePaths];
}
