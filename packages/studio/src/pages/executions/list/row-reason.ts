import type { ListedExecution } from "stepfold/client";
import { holdingOf, holdingParts, unheld } from "../../../model/holding.ts";
import { countText, nounText } from "../../../ui/text/number-text.ts";
import { clockText, countdownText, durationText } from "../../../ui/text/time-text.ts";
import { isFresh, isLeft } from "./doubt.ts";

/** A part of a sentence: the name of a node, or text. */
export interface ReasonPart {
  readonly kind: "node" | "text";
  readonly text: string;
}

type ListedWait = NonNullable<ListedExecution["waits"]>[number];

/** When something is said, and what it is said of. */
interface ReasonTimes {
  /** The time of the server's clock. */
  readonly now: number;
  /** When the server has told of the row. */
  readonly toldAt: number;
}

/**
 * Says where an execution stands, and why, from its row alone. If it stands at several nodes, the one is named that needs somebody. A row that
 * was told a while ago does not say that something has not happened since.
 */
export function reasonOf(row: ListedExecution, times: ReasonTimes): readonly ReasonPart[] {
  return (
    endReason(row) ??
    parkedReason(row, times) ??
    needReason(row, times) ??
    retryReason(row, times) ??
    itemsReason(row) ??
    otherReason(row, times)
  );
}

/** Returns a reason as one text, for tooltips and screen readers. */
export function reasonText(parts: readonly ReasonPart[]): string {
  return parts.map(({ text }) => text).join("");
}

function endReason(row: ListedExecution): readonly ReasonPart[] | null {
  const { status, error, steps, createdAt, updatedAt, currentNodeId } = row;
  if (status !== "completed" && status !== "failed" && status !== "cancelled") return null;
  const took = `${nounText(steps, "step")}, ${durationText(updatedAt - createdAt)}`;
  if (status === "cancelled")
    return sentence(currentNodeId ?? error?.nodeId ?? null, error?.message ? `“${error.message}”, after ${took}` : `after ${took}`);
  return error ? sentence(error.nodeId ?? currentNodeId, errorText(error)) : [plain(took)];
}

function parkedReason({ parked, currentNodeId, status }: ListedExecution, times: ReasonTimes): readonly ReasonPart[] | null {
  if (!parked) return status === "parked" ? sentence(currentNodeId, "rests until somebody retries it") : null;
  const next = parked.until === undefined ? "until somebody retries it" : `tried again ${inTime(parked.until, times)}`;
  return sentence(currentNodeId, `${parked.code}${parked.message === "" ? "" : `: ${parked.message}`}; ${next}`);
}

/** Somebody must answer or decide. */
function needReason(row: ListedExecution, times: ReasonTimes): readonly ReasonPart[] | null {
  const { waits = [], waiting } = row;
  const wait = waits.find(({ kind }) => kind === "incident") ?? waits.find(({ kind }) => kind === "external");
  if (!wait) return null;
  const what = wait.kind === "incident" ? "failed and waits for a decision" : `waits for ${peopleOf(wait)}`;
  const others = Math.max(waits.length, waiting?.count ?? 0) - 1;
  const more = others > 0 ? `, and ${nounText(others, "more wait")}` : "";
  const items = itemsReason(row);
  return [...sentence(wait.nodeId, `${what}${deadlineOf(row, wait, times)}${more}`), ...(items ? [plain("; "), ...items] : [])];
}

function retryReason({ retry, status, currentNodeId, error }: ListedExecution, times: ReasonTimes): readonly ReasonPart[] | null {
  if (retry) return sentence(retry.nodeId, `failed, attempt ${countText(retry.attempt)} ${inTime(retry.at, times)}`);
  return status === "error" ? sentence(currentNodeId, error ? `${errorText(error)}, is tried again` : "is tried again") : null;
}

function itemsReason({ items }: ListedExecution): readonly ReasonPart[] | null {
  if (!items) return null;
  const { nodeId, total, done, failed, cancelled } = items;
  const losses = [failed > 0 ? `${countText(failed)} failed` : "", cancelled > 0 ? `${countText(cancelled)} cancelled` : ""];
  return sentence(nodeId, [`${countText(done)} of ${nounText(total, "item")}`, ...losses.filter(Boolean)].join(", "));
}

function otherReason(row: ListedExecution, times: ReasonTimes): readonly ReasonPart[] {
  const { waits = [], waiting, lease, currentNodeId, wakeAt, error } = row;
  const { now, toldAt } = times;
  const wait = waits[0];
  if (wait) return waitReason(row, wait, times);
  const holding = holdingOf(lease, toldAt, now);
  if (lease && (holding.kind === "held" || holding.kind === "unsure" || isFresh(toldAt, now)))
    return sentence(currentNodeId, holdingParts(holding).join(""));
  if (waiting) return sentence(waiting.nodeId, timerText(waiting.until, times));
  if (error) return sentence(error.nodeId ?? currentNodeId, errorText(error));
  if (wakeAt === null) return sentence(currentNodeId, "waits");
  if (wakeAt > now) return sentence(currentNodeId, `goes on ${inTime(wakeAt, times)}`);
  return sentence(
    currentNodeId,
    isLeft(Math.max(wakeAt, row.updatedAt), toldAt, now) ? `is due, and ${holdingParts(unheld).join("")}` : "is due",
  );
}

function waitReason(row: ListedExecution, wait: ListedWait, times: ReasonTimes): readonly ReasonPart[] {
  const { kind, nodeId, signal, key } = wait;
  if (kind === "timer") return sentence(nodeId, timerText(untilOf(row, wait), times));
  const what = kind === "signal" ? `the signal ${signal ?? ""}${key === undefined ? "" : ` of ${key}`}` : "another execution";
  return sentence(nodeId, `waits for ${what}${deadlineOf(row, wait, times)}`);
}

function timerText(until: number | null, times: ReasonTimes): string {
  if (until === null) return "waits for a time";
  const { now, toldAt } = times;
  if (until > now) return `goes on ${inTime(until, times)}`;
  return `was due at ${clockText(until)}${isLeft(until, toldAt, now) ? `, and ${holdingParts(unheld).join("")}` : ""}`;
}

function peopleOf({ responders }: ListedWait): string {
  if (!responders || responders.length === 0) return "an answer";
  if (responders.length > 3) return `${responders.slice(0, 2).join(", ")} or ${countText(responders.length - 2)} others`;
  return responders.join(" or ");
}

/** The time of the only wait. The row has the earliest time of all waits, so of several it is not known whose it is. */
function untilOf({ waiting }: ListedExecution, { nodeId, kind }: ListedWait): number | null {
  return waiting && waiting.count === 1 && waiting.nodeId === nodeId && waiting.kind === kind ? waiting.until : null;
}

function deadlineOf(row: ListedExecution, wait: ListedWait, { now, toldAt }: ReasonTimes): string {
  const until = untilOf(row, wait);
  if (until === null) return "";
  if (until > now) return `, ${countdownText(until - now)} left`;
  return isFresh(toldAt, now) ? ", its time is over" : `, until ${clockText(until)}`;
}

function inTime(at: number, { now, toldAt }: ReasonTimes): string {
  if (at > now) return `in ${countdownText(at - now)}`;
  return isFresh(toldAt, now) ? "now" : `at ${clockText(at)}`;
}

function errorText({ name, code, message }: NonNullable<ListedExecution["error"]>): string {
  const title = code ?? name;
  return message === "" ? title : `${title}: ${message}`;
}

function sentence(nodeId: string | null, text: string): readonly ReasonPart[] {
  return nodeId === null ? [plain(text)] : [{ kind: "node", text: nodeId }, plain(` ${text}`)];
}

function plain(text: string): ReasonPart {
  return { kind: "text", text };
}
