import { type Event, StepfoldError } from "stepfold";
import { itemOf, parentKey } from "stepfold/core";
import { complain, say } from "../output.ts";
import { type Paint, paintFor } from "../text/paint.ts";
import { printable } from "../text/printable.ts";

/** The log of a worker. */
export interface WorkLog {
  begins(store: string, queue: string | null, concurrency: number): void;
  /** Logs an event that was committed. */
  event(workflowId: string, event: Event): void;
  /** Logs an error of background work. */
  readonly problem: (workflowId: string | null, error: unknown) => void;
  ends(): void;
}

/** The most characters of an error message that are logged. */
const maxLength = 300;

/** Makes a log with a line for each step that ended or waits, and for each problem; with `json`, an object for every event. */
export function workLog(json: boolean): WorkLog {
  const paint = paintFor(process.stdout);
  const tell = (text: string, told: object): void => say(json ? `${JSON.stringify(told)}\n` : `${paint("quiet", clock())} ${text}\n`);
  return {
    begins(store, queue, concurrency) {
      const from = queue === null ? store : `${store} and ${queue}`;
      tell(`working on ${from}, at most ${concurrency} executions at once; Ctrl-C stops the worker`, {
        type: "working",
        store,
        queue,
        concurrency,
      });
    },
    event(workflowId, event) {
      const text = eventText(event, paint);
      if (json) tell("", { type: "event", workflowId, event });
      else if (text !== null) tell(`${workflowId} ${text}`, {});
    },
    problem(workflowId, error) {
      const code = StepfoldError.is(error) ? error.code : "INTERNAL";
      const message = printable(error instanceof Error ? error.message : String(error), maxLength);
      if (json) tell("", { type: "problem", workflowId, code, message });
      else complain(`${clock()} ${workflowId === null ? "" : `${workflowId} `}${code}: ${message}\n`);
    },
    ends() {
      tell("has ended; nothing is left half done", { type: "ended" });
    },
  };
}

function eventText(event: Event, paint: Paint): string | null {
  switch (event.type) {
    case "completed":
      return `${paint("good", "✔")} ${addressText(event)}`;
    case "failed":
      return `${paint("bad", "✖")} ${addressText(event)}: ${printable(event.error.message, maxLength)}${event.retryAt === null ? "" : "; to be tried again"}`;
    case "suspended":
      return `${paint("wait", "…")} ${addressText(event)} waits`;
    case "answerRefused":
      return `${paint("bad", "✖")} ${addressText(event)} has refused an answer, and waits again`;
    case "expired":
      return `${paint("bad", "✖")} ${event.scope === undefined ? "the deadline has passed: it" : `a sub-workflow${itemsText(event.scope)}`} did not end in time`;
    case "timedOut":
      return `${paint("bad", "✖")} ${addressText(event)} was not answered in time`;
    default:
      return null;
  }
}

/** Names a step: `fetch`, `fetch of item 3`. The map is not named, because its event may have been seen by another worker only. */
function addressText({ scope, nodeId }: { readonly scope?: string; readonly nodeId: string }): string {
  return `${printable(nodeId)}${itemsText(scope)}`;
}

/** Names the items of maps that a scope is in: ` of item 3/0`; empty if there are none. */
function itemsText(scope: string = ""): string {
  const items: number[] = [];
  for (let key = scope; key !== ""; key = parentKey(key)) {
    const item = itemOf(key);
    if (item !== null) items.unshift(item);
  }
  return items.length === 0 ? "" : ` of item ${items.join("/")}`;
}

function clock(): string {
  return new Date().toISOString().slice(11, 19);
}
