import { scopedKey } from "../../core/snapshot/address.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { AddressBook } from "./address-book.ts";

/** Returns the addresses of the steps that an execution has come to, in the order in which something first happened at them. */
export function stepsIn(events: readonly Event[], addresses: AddressBook): string[] {
  const steps: string[] = [];
  /** The node of each path at which something has happened that is not over. */
  const open = new Map<string, string>();
  for (const event of events) {
    for (const { scope = "", result } of event.consequences?.results ?? []) open.delete(scopedKey(scope, result.pathId));
    if (!isOfStep(event) || addresses.isCode(event)) continue;
    const path = scopedKey(event.scope ?? "", event.pathId);
    const name = `${"undoes" in event && event.undoes ? "undo " : ""}${addresses.of(event)}`;
    if (open.get(path) !== name) steps.push(name);
    if (isOver(event)) open.delete(path);
    else open.set(path, name);
  }
  return steps;
}

type OfStep = Extract<Event, { readonly nodeId: string; readonly pathId: string; readonly turn: number }>;

function isOfStep(event: Event): event is OfStep {
  return ["begun", "completed", "failed", "suspended", "spawned", "continued"].includes(event.type);
}

function isOver(event: OfStep): boolean {
  if (event.type === "failed") return event.retryAt === null && event.incident === undefined;
  return event.type === "completed" || event.type === "continued";
}
