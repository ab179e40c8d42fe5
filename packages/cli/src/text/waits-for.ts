import { type EpochMs, isTerminal, type Parked, type Snapshot, waits } from "stepfold";
import { countdownText, openPaths, wantedText } from "stepfold/core";
import { nextMove } from "../execution/status.ts";
import { printable } from "./printable.ts";

/** The most characters of the text about a single wait. */
const maxLength = 48;

/** Says in a few words what an execution waits for: `an answer from ada`, `12 answers, 3 signals`, `a retry in 5 s`; empty for nothing. */
export function waitsFor(snapshot: Snapshot, now: EpochMs): string {
  if (isTerminal(snapshot.status)) return "";
  if (snapshot.parked) return parkedText(snapshot.parked, now);
  const open = waits(snapshot).filter(({ kind }) => kind !== "timer");
  const counts = [
    counted(open.filter(({ kind }) => kind === "external" || kind === "incident").length, "answer"),
    counted(open.filter(({ kind }) => kind === "signal").length, "signal"),
    counted(open.filter(({ kind }) => kind === "child" || kind === "delivery").length, "execution"),
  ];
  const wanted = open.length === 1 ? [printable(wantedText(open[0]!) ?? "its sub-workflow or its items", maxLength)] : counts;
  const time = open.length === 0 || snapshot.status === "error" ? timeText(snapshot, now) : "";
  return [...wanted, time, deadlineText(snapshot, now)].filter((text) => text !== "").join(", ");
}

function deadlineText({ deadlineAt, ending, closing }: Snapshot, now: EpochMs): string {
  if (deadlineAt === undefined || ending || closing) return "";
  return deadlineAt <= now ? "must have ended" : `must end in ${countdownText(deadlineAt - now)}`;
}

function parkedText({ until }: Parked, now: EpochMs): string {
  if (until === undefined) return "a retry by hand (stepfold dlq retry)";
  return until <= now ? "a worker" : `a worker, in ${countdownText(until - now)}`;
}

/** Says when the execution moves by itself; empty if it does not. */
function timeText(snapshot: Snapshot, now: EpochMs): string {
  if (snapshot.status === "active") return "";
  const isError = snapshot.status === "error";
  let at = Number.POSITIVE_INFINITY;
  for (const { path } of openPaths(snapshot)) if (!isError || path.status === "retrying") at = Math.min(at, nextMove(path));
  if (at === Number.POSITIVE_INFINITY) return "";
  const when = at <= now ? "overdue" : `in ${countdownText(at - now)}`;
  return `${isError ? "a retry" : "a time"} ${when}`;
}

function counted(count: number, what: string): string {
  return count === 0 ? "" : `${count} ${what}${count === 1 ? "" : "s"}`;
}
