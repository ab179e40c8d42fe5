import type { SignalledEvent } from "../../snapshot/event.ts";
import { isLargeIn, referring } from "../../snapshot/large-values.ts";
import type { InEvents } from "../../snapshot/parts/in-events.ts";
import { comparePathIds } from "../../snapshot/parts/path-id.ts";
import type { Resumed, Wait } from "../../snapshot/parts/wait.ts";
import type { KeptSignal } from "../../snapshot/snapshot.ts";
import { type EpochMs, type Json, sizeOfJson } from "../../values/json.ts";

import type { Draft, ScopeDraft } from "../draft/draft.ts";
import { type DraftPath, wake } from "../draft/draft-path.ts";
import { earliestTimer } from "../draft/draft-status.ts";
import { subtractSize } from "../draft/held-size.ts";
import { byAge } from "../draft/join-group.ts";
import { scopeAt } from "../draft/open-draft.ts";

/** A signal. It fits the waits with the same name and key; a signal without a key fits only waits without a key. */
interface Signal extends InEvents {
  readonly name: string;
  readonly key?: string;
  readonly payload?: Json;
}

/**
 * Gives a signal to a wait that it fits: the oldest one of the execution itself, else the oldest one of the first child (by key) that has
 * one. If there is none, the inbox keeps the signal (docs/path-semantics.md, "Waits, signals and children"). Returns the scope that has
 * changed.
 */
export function applySignalled(draft: Draft, event: SignalledEvent): ScopeDraft {
  const { name, key, payload, expiresAt, at } = event;
  const signal: KeptSignal = { name, ...(key !== undefined && { key }), ...(payload !== undefined && { payload }), expiresAt };
  const held = isLargeIn(draft, event) ? referring(signal, `${event.version}`, "payload") : Object.freeze(signal);
  const found = findTaker(draft, event, at);
  if (found) {
    wakeBySignal(draft, found.path, found.wait, held, { version: event.version });
    return found.scope;
  }
  const kept = draft.inbox.filter((other) => other.expiresAt > at);
  for (const { payload: lost, expiresAt: until } of draft.inbox)
    if (until <= at && lost !== undefined) subtractSize(draft, sizeOfJson(lost));
  draft.inbox = Object.freeze([...kept, held]);
  return draft;
}

/** Gives the oldest signal in the inbox that fits a wait of a path to that path, which has just begun to wait; not to `transient` waits. */
export function takeKept(draft: Draft, path: DraftPath, at: EpochMs): void {
  if (draft.inbox.length === 0) return;
  for (const signal of draft.inbox) {
    const wait = signal.expiresAt > at ? path.waits?.find((open) => !open.transient && takesSignal(open, signal)) : undefined;
    if (!wait) continue;
    draft.inbox = Object.freeze(draft.inbox.filter((other) => other !== signal));
    wakeBySignal(draft, path, wait, signal, { schema: wait.schema });
    return;
  }
}

/** Returns the wait that takes a signal that comes at `at`; null if there is none. */
export function findTaker(
  draft: Draft,
  signal: Signal,
  at: EpochMs,
): { readonly scope: ScopeDraft; readonly path: DraftPath; readonly wait: Wait } | null {
  const own = takerIn(draft, signal, at);
  if (own) return own;
  let first: string | null = null;
  for (const [key, child] of draft.children) {
    const paths: readonly WaitingPath[] = "paths" in child ? child.paths : child.activePaths;
    if (first !== null && comparePathIds(first, key) <= 0) continue;
    if (paths.some((path) => waitOf(path, signal, at))) first = key;
  }
  return first === null ? null : takerIn(scopeAt(draft, first)!, signal, at);
}

function takerIn(
  scope: ScopeDraft,
  signal: Signal,
  at: EpochMs,
): { readonly scope: ScopeDraft; readonly path: DraftPath; readonly wait: Wait } | null {
  for (const path of [...scope.paths].sort(byAge)) {
    const wait = waitOf(path, signal, at);
    if (wait) return { scope, path, wait };
  }
  return null;
}

type WaitingPath = { readonly waits?: readonly Wait[] | undefined };

/** Returns the wait of a path that takes a signal. If a timer of the path is due, it wins, even before it has fired. */
function waitOf({ waits }: WaitingPath, signal: Signal, at: EpochMs): Wait | undefined {
  const wait = waits?.find((open) => takesSignal(open, signal));
  return wait && (earliestTimer([{ waits }]) ?? Number.POSITIVE_INFINITY) > at ? wait : undefined;
}

function takesSignal({ kind, signal, key }: Wait, { name, key: given }: Signal): boolean {
  return kind === "signal" && signal === name && key === given;
}

/**
 * Wakes a path with a signal. `version` is the version of a signal that comes now. `schema` is the schema of the wait for a signal from the
 * inbox, whose payload was not checked against it yet.
 */
function wakeBySignal(
  draft: Draft,
  path: DraftPath,
  wait: Wait,
  { name, key, payload, inEvents }: Signal,
  { version, schema }: { readonly version?: number; readonly schema?: Wait["schema"] | undefined },
): void {
  const why: Resumed = { by: "signal", signal: name, ...(key !== undefined && { key }), ...(schema !== undefined && { schema }) };
  wake(draft, path, wait, { ...why, ...(payload !== undefined && { payload }), ...(inEvents && { inEvents }) }, version);
}
