import type { Json } from "../values/json.ts";
import type { Event } from "./event.ts";
import type { InEvents } from "./parts/in-events.ts";
import type { Resumed } from "./parts/wait.ts";
import type { ActivePath, KeptSignal, ScopeHead, SnapshotHead } from "./snapshot.ts";

/** From about this number of bytes of JSON on, a value counts as large, or all values of one event together. */
export const largeBytes = 1_024;

/** The members whose values may be kept in the events. */
const members = ["payload", "suspendPayload", "schema", "input", "output"] as const;
type Member = (typeof members)[number];
type Holding = InEvents & { readonly [M in Member]?: unknown };

/**
 * True if the values of an event are together so large that a store writes them only with the event. An execution without an `incarnation`
 * is in no store, so its values cannot be read from stored events.
 */
export function isLargeIn({ incarnation }: Pick<SnapshotHead, "incarnation">, { sizeBytes = 0 }: Event): boolean {
  return sizeBytes >= largeBytes && incarnation !== undefined;
}

/**
 * Marks members of an object, as far as they are present, as kept in an event.
 *
 * @param at the version of the event, and the pointer to the object in it, such as `7` or `7/waits/0`
 */
export function referring<H extends Holding>(holder: H, at: string, ...names: readonly Member[]): H {
  const there = names.filter((name) => holder[name] !== undefined);
  if (there.length === 0) return holder;
  const inEvents = { ...holder.inEvents, ...Object.fromEntries(there.map((name) => [name, `${at}/${name}`])) };
  return Object.freeze({ ...holder, inEvents: Object.freeze(inEvents) });
}

/** Returns the head of a scope without the values that are kept in events. */
export function leanHead<H extends ScopeHead>(head: H): H {
  return changed(head, (holder) => {
    const lean: { -readonly [K in keyof Holding]: Holding[K] } = { ...holder };
    for (const name of members) if (holder.inEvents![name] !== undefined) delete lean[name];
    return lean;
  });
}

/** Returns the head of a scope with the values that are kept in events. @param valueAt returns the value at a place in the events */
export function wholeHead<H extends ScopeHead>(head: H, valueAt: (at: string) => Json): H {
  return changed(head, (holder) => {
    const whole: { -readonly [K in keyof Holding]: Holding[K] } = { ...holder };
    for (const name of members) {
      const at = holder.inEvents![name];
      if (at !== undefined && holder[name] === undefined) whole[name] = valueAt(at);
    }
    return whole;
  });
}

/**
 * Returns the values of a head that are kept in events, by their places. They are undefined if the head is without them (see `leanHead`).
 */
export function valuesInEvents(head: ScopeHead): ReadonlyMap<string, Json | undefined> {
  const found = new Map<string, Json | undefined>();
  changed(head, (holder) => {
    for (const name of members) {
      const at = holder.inEvents![name];
      if (at !== undefined) found.set(at, holder[name] as Json | undefined);
    }
    return holder;
  });
  return found;
}

/** Returns the value at a place in a list of consecutive events; undefined if the place is not in them. */
export function valueInEvents(events: readonly Event[], at: string): Json | undefined {
  const [version, ...steps] = at.split("/");
  let found: unknown = events[Number(version) - (events[0]?.version ?? 0)];
  for (const step of steps)
    found = typeof found === "object" && found !== null && Object.hasOwn(found, step) ? Reflect.get(found, step) : undefined;
  return found as Json | undefined;
}

type Change = (holder: Holding) => Holding;

/** Applies a change to every object in a head that refers to events. */
function changed<H extends ScopeHead>(head: H, change: Change): H {
  const { inbox } = head as { readonly inbox?: readonly KeptSignal[] };
  const activePaths = changedAll(head.activePaths, (path) => changedPath(path, change));
  const signals = inbox && changedAll(inbox, (signal) => changedHolder(signal, change));
  const own = changedHolder<H & Holding>(head, change);
  if (activePaths === head.activePaths && signals === inbox) return own;
  return { ...own, activePaths, ...(signals && { inbox: signals }) };
}

function changedPath(path: ActivePath, change: Change): ActivePath {
  const { waits, resumed } = path;
  if (!waits && !resumed) return path;
  const own = waits && changedAll(waits, (wait) => changedAnswers(wait, change));
  const why = resumed && changedResumed(resumed, change);
  return own === waits && why === resumed ? path : { ...path, ...(own && { waits: own }), ...(why && { resumed: why }) };
}

function changedResumed(resumed: Resumed, change: Change): Resumed {
  const { reopens } = resumed;
  const waits = reopens && changedAll(reopens.waits, (wait) => changedAnswers(wait, change));
  const own = changedAnswers(resumed, change);
  return waits === reopens?.waits ? own : { ...own, reopens: { ...reopens!, waits: waits! } };
}

function changedAnswers<H extends Holding & { readonly answers?: readonly Holding[] }>(holder: H, change: Change): H {
  const { answers } = holder;
  const own = answers && changedAll(answers, (answer) => changedHolder(answer, change));
  const whole = changedHolder(holder, change);
  return own === answers ? whole : { ...whole, answers: own };
}

function changedHolder<H extends Holding>(holder: H, change: Change): H {
  return holder.inEvents ? (change(holder) as H) : holder;
}

/** Applies a change to every item of a list. Returns the same list if no item changes. */
function changedAll<T>(all: readonly T[], change: (one: T) => T): readonly T[] {
  let list: T[] | null = null;
  for (let i = 0; i < all.length; i++) {
    const next = change(all[i]!);
    if (next === all[i]) continue;
    list ??= [...all];
    list[i] = next;
  }
  return list ?? all;
}
