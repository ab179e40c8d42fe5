import type { Json } from "../values/json.ts";
import type { Event } from "./event.ts";
import type { InEvents } from "./in-events.ts";
import type { ActivePath, KeptSignal, Resumed, ScopeHead, SnapshotHead } from "./snapshot.ts";

/** About from how many bytes of JSON on a value counts as large. */
export const largeBytes = 1_024;

const members = ["payload", "suspendPayload", "schema", "input", "output"] as const;
type Member = (typeof members)[number];
type Holding = InEvents & { readonly [M in Member]?: unknown };

/** Whether the values of an event are so large that a store writes them only with it. Without a store nothing refers to events. */
export function isLargeIn({ incarnation }: Pick<SnapshotHead, "incarnation">, { sizeBytes = 0 }: Event): boolean {
  return sizeBytes >= largeBytes && incarnation !== undefined;
}

/** Says of those of these members that are there that they lie in an event. @param at the version, and the pointer to what has them there */
export function referring<H extends Holding>(holder: H, at: string, ...names: readonly Member[]): H {
  const there = names.filter((name) => holder[name] !== undefined);
  if (there.length === 0) return holder;
  const inEvents = { ...holder.inEvents, ...Object.fromEntries(there.map((name) => [name, `${at}/${name}`])) };
  return Object.freeze({ ...holder, inEvents: Object.freeze(inEvents) });
}

/** The head of a scope without the values that lie in events. */
export function leanHead<H extends ScopeHead>(head: H): H {
  return changed(head, (holder) => {
    const lean: { -readonly [K in keyof Holding]: Holding[K] } = { ...holder };
    for (const name of members) if (holder.inEvents![name] !== undefined) delete lean[name];
    return lean;
  });
}

/** The head of a scope with these values. @param valueAt the value at a place in the events */
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

/** The values in the head of a scope that lie in events, by where they lie; undefined in one without them. */
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

/** The value at a place in events that follow each other; undefined if it is not there. */
export function valueInEvents(events: readonly Event[], at: string): Json | undefined {
  const [version, ...steps] = at.split("/");
  let found: unknown = events[Number(version) - (events[0]?.version ?? 0)];
  for (const step of steps)
    found = typeof found === "object" && found !== null && Object.hasOwn(found, step) ? Reflect.get(found, step) : undefined;
  return found as Json | undefined;
}

type Change = (holder: Holding) => Holding;

/** The head with everything changed that refers to events. */
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

/** The very list if nothing in it changes. */
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
