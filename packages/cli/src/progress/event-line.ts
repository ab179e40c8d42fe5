import type {
  AnswerRefusedEvent,
  CancelledEvent,
  CompletedEvent,
  ContinuedEvent,
  Event,
  ExpiredEvent,
  MapClosedEvent,
  RestartedEvent,
  ResumedEvent,
  SignalledEvent,
  Snapshot,
  SpawnedEvent,
} from "stepfold";
import { isJsonObject } from "stepfold/core";
import { countdownText } from "../text/duration-text.ts";
import { namesText } from "../text/names-text.ts";
import { printable, printableJson } from "../text/printable.ts";
import { consequenceLines } from "./consequence-line.ts";
import { handleText, type LineStyle, stepLine } from "./line.ts";
import { completedLine, failedLine, suspendedLine } from "./step-line.ts";
import type { Trail } from "./trail.ts";

/** What `eventLines` needs besides the event. */
export interface EventLineContext {
  /** Knows at which node each path is, from the events that it has seen. */
  readonly trail: Trail;
  readonly style: LineStyle;
  /** The snapshot after the event; null if only the events are known. */
  readonly after: Snapshot | null;
}

/**
 * Returns the lines for an event, as text with colours: first what happened, then its consequences. The trail takes in the event, so this
 * must be called once for each event, in order.
 */
export function eventLines(event: Event, telling: EventLineContext): string[] {
  // the trail must see every event, before that event is shown
  telling.trail.see(event);
  const line = lineOf(event, telling);
  return [...(line === null ? [] : [line]), ...consequenceLines(event, telling.after, telling.trail, telling.style)];
}

function lineOf(event: Event, telling: EventLineContext): string | null {
  const { trail, style } = telling;
  switch (event.type) {
    case "completed":
      return completedLine(event, nodeAddress(event, trail), style);
    case "continued":
      return stepLine("⟳", "good", trail.address(undefined, event.nodeId), [continuedText(event)], style);
    case "restarted":
      return stepLine("⟳", "wait", "restarted", [restartedText(event)], style);
    case "failed":
      return failedLine(event, nodeAddress(event, trail), style);
    case "suspended":
      return suspendedLine(event, nodeAddress(event, trail), style);
    case "answerRefused":
      return stepLine("✖", "bad", nodeAddress(event, trail), [refusedText(event), "waits again"], style);
    case "spawned":
      return spawnedLine(event, nodeAddress(event, trail), style);
    case "resumed":
      return stepLine("▶", "quiet", trail.at(event.scope, event.pathId), [resumedText(event)], style);
    case "signalled":
      return signalledLine(event, telling);
    case "timedOut": {
      const what = event.undoes ? "nobody answered in time; the step is not undone" : "nobody answered in time";
      return stepLine("✖", "bad", nodeAddress(event, trail), [what, handleText(event.handle)], style);
    }
    case "expired":
      return expiredLine(event, telling);
    case "retried":
      return stepLine("↻", "wait", trail.at(event.scope, event.pathId), ["is retried now"], style);
    case "cancelled":
      return cancelledLine(event, telling);
    case "itemAdded":
      return stepLine("+", "quiet", trail.at(event.scope, event.pathId), [`gets an item: ${printableJson(event.item, 100)}`], style);
    case "metadataSet":
      return stepLine("=", "quiet", "metadata", [`is now ${printableJson(event.metadata, 100)}`], style);
    case "mapClosed":
      return stepLine("■", "quiet", trail.at(event.scope, event.pathId), [closedText(event)], style);
    default:
      // `started`, `begun`, `delivered`, `parked` and `unparked` get no line of their own
      return null;
  }
}

function continuedText({ run, input }: ContinuedEvent): string {
  return `ends its run; run ${run} begins${input === undefined ? "" : `: ${printableJson(input, 100)}`}`;
}

function restartedText({ state: { activePaths } }: RestartedEvent): string {
  return `goes on at ${namesText([...new Set(activePaths.map(({ nodeId }) => nodeId))])}`;
}

/**
 * Returns the address of the node of an event. A compensation is shown at the step that it undoes. That step may have run in a child
 * (`undoes.scope`), although the path that undoes it belongs to a scope further out (`scope`).
 */
function nodeAddress({ scope, nodeId, undoes }: Pick<CompletedEvent, "scope" | "nodeId" | "undoes">, places: Trail): string {
  return places.address(undoes ? undoes.scope : scope, nodeId);
}

function spawnedLine({ children: { workflow, map } }: SpawnedEvent, address: string, style: LineStyle): string {
  if (!map) return stepLine("⑂", "quiet", address, [`runs ${workflow}`], style);
  const { items, concurrency, completeWhen, open } = map;
  const told = [
    `runs ${workflow} for ${items.length === 1 ? "1 item" : `${items.length} items`}`,
    items.length > concurrency ? `${concurrency} at once` : "",
    completeWhen === undefined ? "" : `until ${completeWhen} are done`,
    open ? "accepts more items" : "",
  ];
  return stepLine("⑂", "quiet", address, [told.filter(Boolean).join(", ")], style);
}

function resumedText({ by, who, payload }: ResumedEvent): string {
  if (by === "timer") return "its timer is due";
  if (by === "child") return `the execution that it waited for has ended: ${printableJson(payload ?? null)}`;
  if (by === "delivery")
    return `its signal ${isJsonObject(payload) && payload.status === "completed" ? "was delivered" : "could not be delivered"}`;
  return `is answered${who === undefined ? "" : ` by ${printable(who)}`}${payload === undefined ? "" : `: ${printableJson(payload)}`}`;
}

function refusedText({ who, issues: [first] }: AnswerRefusedEvent): string {
  const what = who === undefined ? "the answer is refused" : `the answer of ${printable(who)} is refused`;
  return first ? `${what}: ${printable(`${first.pointer || "/"} ${first.message}`, 200)}` : what;
}

function signalledLine(event: SignalledEvent, { trail, style, after }: EventLineContext): string {
  const { name, key, payload, expiresAt, at } = event;
  const said = `"${printable(name)}"${key === undefined ? "" : ` (key ${printable(key)})`}${payload === undefined ? "" : `: ${printableJson(payload)}`}`;
  const taker = trail.taker(event, after);
  // null: the trail cannot tell who took the signal, or whether it is kept
  if (taker === null) return stepLine("▶", "quiet", "signal", [said], style);
  if (taker !== "kept") return stepLine("▶", "quiet", taker, [`takes the signal ${said}`], style);
  return stepLine("▷", "wait", "signal", [said, `nobody waits for it yet; it is kept for ${countdownText(expiresAt - at)}`], style);
}

function cancelledLine({ scope, pathIds, reason, consequences }: CancelledEvent, { trail, style }: EventLineContext): string {
  const why = reason === undefined ? "" : printable(reason);
  // without path ids everything in the scope was cancelled; the whole execution has no address, so the word "cancelled" takes its place
  if (!pathIds)
    return stepLine(
      "■",
      "bad",
      scope === undefined ? "cancelled" : trail.child(scope),
      [scope === undefined ? "" : "cancelled", why],
      style,
    );
  // if the event does not name the nodes of the paths that it ended, the trail knows them
  const ended = (consequences?.ended ?? []).filter((one) => one.scope === scope && pathIds.includes(one.pathId));
  const names = ended.length > 0 ? ended.map(({ nodeId }) => trail.address(scope, nodeId)) : pathIds.map((id) => trail.at(scope, id));
  return stepLine("■", "bad", namesText(names), ["cancelled", why], style);
}

function expiredLine({ scope }: ExpiredEvent, { trail, style }: EventLineContext): string {
  return stepLine("✖", "bad", scope === undefined ? "deadline" : trail.child(scope), ["did not end in time"], style);
}

function closedText({ completes }: MapClosedEvent): string {
  return completes ? "gets no more items; items in progress are cancelled" : "gets no more items";
}
