import type { EpochMs, Node } from "stepfold/core";
import { plainHeight } from "../../model/layout/layout-request.ts";
import type { NodeState } from "../../model/replay/execution-state.ts";
import type { ItemProgress } from "../../model/replay/node-status.ts";
import type { IconName } from "../../ui/icons/icon.tsx";
import type { ShownStatus } from "../../ui/status/shown-status.ts";
import { countText } from "../../ui/text/number-text.ts";
import { durationText } from "../../ui/text/time-text.ts";
import { iconOf, typeLine } from "./node-kind.ts";
import { type Ports, portsHeight } from "./ports.ts";

/** What stands at the right of a card's state. `until` and `since` are shown as a time that runs. */
export interface CardFact {
  readonly text: string;
  /** It moves by itself then: the time that is left stands behind the text. */
  readonly until: EpochMs | null;
  /** When the time that is left began, if it drains the row. */
  readonly from: EpochMs | null;
  /** The attempt runs since then. */
  readonly since: EpochMs | null;
}

/** What a card shows. */
export interface Card {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly icon: IconName;
  readonly status: ShownStatus;
  readonly fact: CardFact;
  /** A line below the state; `isBad`: in the ink of failures. */
  readonly note: { readonly text: string; readonly isBad: boolean } | null;
  readonly items: ItemProgress | null;
  readonly badges: readonly string[];
  readonly ports: Ports;
  /** The handles by which it was left. */
  readonly taken: readonly string[];
  readonly height: number;
}

/** What runs at a node now, beside what its events say. */
export interface Running {
  /** When its attempt began, as the process told that holds it; null if it has not told. */
  readonly since: EpochMs | null;
  /** The process that holds the execution; null: none does. */
  readonly owner: string | null;
}

/** What a card is made of. */
export interface CardParts {
  readonly node: Node;
  readonly ports: Ports;
  readonly state: NodeState;
  /** The number of edges into the node, of a join. */
  readonly incoming: number;
  readonly running: Running;
  /** The code for which the execution is parked. */
  readonly parkedCode: string | null;
}

/** Returns what the card of a node shows. */
export function cardOf(parts: CardParts): Card {
  const { node, ports, state } = parts;
  const note = noteOf(state, ports);
  const items = state.standing?.items ?? null;
  return {
    id: node.id,
    name: node.name ?? node.id,
    type: typeText(node, state),
    icon: iconOf(node),
    status: state.status,
    fact: factOf(parts),
    note,
    items,
    badges: badgesOf(state),
    ports,
    taken: [...state.handles.keys()],
    height: cardHeight(ports, items !== null, note !== null),
  };
}

/** The height of a card whose state adds a meter of items or a note. */
export function cardHeight(ports: Ports, hasItems: boolean, hasNote: boolean): number {
  return plainHeight + (hasItems ? 46 : hasNote ? 24 : 0) + portsHeight(ports);
}

function typeText(node: Node, { standing, items }: NodeState): string {
  const total = standing?.items?.total ?? items;
  return node.type === "map" && total !== null && total > 0
    ? `map · ${countText(total)} ${total === 1 ? "item" : "items"}`
    : typeLine(node);
}

/** How often it was visited, how many of the answers have come, whether it was undone. */
function badgesOf({ visits, standing, undo }: NodeState): string[] {
  const all = visits + (standing && standing.status !== "not-yet" ? standing.paths : 0);
  return [
    ...(undo ? [undo] : []),
    ...(standing?.quorum ? [`${countText(standing.quorum.came)} of ${countText(standing.quorum.wanted)}`] : []),
    ...(all > 1 ? [`×${countText(all)}`] : []),
  ];
}

function noteOf(state: NodeState, { withEdges }: Ports): Card["note"] {
  const { status, error, lastHandles, standing } = state;
  if ((status === "failed" || status === "retrying") && error) return { text: errorText(error), isBad: false };
  if (standing) return null;
  const dead = lastHandles.find((handle) => handle !== "" && !withEdges.has(handle));
  return status === "completed" && dead !== undefined ? { text: `→ ${dead}, ends here`, isBad: true } : null;
}

/** The error of an attempt in one line. */
function errorText({ code, name, message }: { readonly code?: string; readonly name: string; readonly message: string }): string {
  if (message === "") return code ?? name;
  // the status says most, and the end of a long message has no room
  const httpStatus = code === "HTTP_STATUS" ? /\bstatus (\d{3})\b/.exec(message)?.[1] : undefined;
  if (httpStatus !== undefined) return `${httpStatus}: ${message}`;
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
}

const noFact: CardFact = { text: "", until: null, from: null, since: null };

function factOf({ node, state, incoming, running, parkedCode }: CardParts): CardFact {
  const { standing } = state;
  switch (state.status) {
    case "not-yet":
      return { ...noFact, text: arrivalText(node, state, incoming) };
    case "active":
      return activeFact(state, running);
    case "paused":
      return { ...noFact, until: standing?.until ?? null };
    case "retrying":
      return {
        text: `attempt ${standing?.attempt ?? state.attempt + 1}${maxAttempts(node)}`,
        until: standing?.until ?? state.retryAt,
        from: state.begunAt,
        since: null,
      };
    case "parked":
      return { ...noFact, text: parkedCode ?? "" };
    case "completed":
      return { ...noFact, text: doneText(node, state) };
    case "failed":
      return { ...noFact, text: failedText(state) };
    case "not-reached":
    case "cancelled":
      return noFact;
  }
}

function arrivalText({ join }: Node, { standing }: NodeState, incoming: number): string {
  if (standing?.isHeld) return "waits for its turn";
  if (join === undefined || join === "each") return "";
  const wanted = join === "all" ? incoming : join;
  return `join ${join === "all" ? "all, " : ""}${standing?.joining ?? 0} of ${wanted}`;
}

function activeFact({ standing, attempt }: NodeState, { since, owner }: Running): CardFact {
  const items = standing?.items;
  if (items) return { ...noFact, text: `${countText(items.done + items.failed + items.cancelled)} of ${countText(items.total)}` };
  const tried = standing && standing.attempt > 1 ? `attempt ${standing.attempt}` : attempt > 1 ? `attempt ${attempt}` : "";
  return { ...noFact, text: [tried, owner ?? ""].filter(Boolean).join(", "), since };
}

/** The most attempts, if there is room for them: the countdown behind them is always whole. */
function maxAttempts({ retryPolicy }: Node): string {
  const most = retryPolicy?.maxAttempts;
  return typeof most === "number" && most < 10 ? ` of ${most}` : "";
}

function doneText({ type }: Node, { tookMs, lastHandles }: NodeState): string {
  if (type === "if" || type === "switch") return lastHandles.join(", ");
  return tookMs === null ? "" : durationText(tookMs);
}

function failedText({ attempt, tookMs }: NodeState): string {
  const tried = attempt > 1 ? `${countText(attempt)} attempts` : "";
  return [tried, tookMs === null ? "" : durationText(tookMs)].filter(Boolean).join(", ");
}
