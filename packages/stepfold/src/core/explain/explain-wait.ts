import type { CompiledNode } from "../definition/compiled.ts";
import type { ErrorInfo } from "../errors/error-info.ts";
import { handleMark, responderMark, timeMark, unmarked } from "./explain-marks.ts";
import { counted, cut, listed } from "./explain-words.ts";
import type { WaitInfo } from "./waits.ts";

/** The largest length of a name in a sentence, in characters. */
const maxNameLength = 80;
/** The largest length of an error message or another reason in a sentence, in characters. */
const maxReasonLength = 200;

/** Says what a suspended path waits for, as a sentence without its subject. @param node the node of the path; null if it is not known */
export function waitText(waits: readonly WaitInfo[], node: CompiledNode | null): string {
  const wanted = waits.map(wantedPart).filter((text) => text !== null);
  const time = firstTime(waits);
  if (time === null) return `waits for ${listed(wanted, "or")}`;
  const at = timeMark(time.at);
  if (wanted.length === 0) return time.late ? `waits until ${at}${tooLate(node)}` : `waits until ${at}, and then goes on`;
  const what = `waits for ${listed(wanted, "or")}`;
  return time.late ? `${what}, until ${at}${tooLate(node)}` : `${what}, or until ${at}, and then goes on`;
}

/** Returns the earliest time of these waits, or null. `late`: it is a `timeoutAt`, which wins over an equal `resumeAt` of the same wait. */
export function firstTime(
  waits: readonly Pick<WaitInfo, "resumeAt" | "timeoutAt">[],
): { readonly at: number; readonly late: boolean } | null {
  let first: { at: number; late: boolean } | null = null;
  for (const { resumeAt = Number.POSITIVE_INFINITY, timeoutAt = Number.POSITIVE_INFINITY } of waits) {
    const at = Math.min(resumeAt, timeoutAt);
    if (at < (first?.at ?? Number.POSITIVE_INFINITY)) first = { at, late: timeoutAt <= resumeAt };
  }
  return first;
}

/** Says what happens to a node that is not answered in time; null if the node is not known. */
export function timeoutText(node: CompiledNode | null): string | null {
  if (!node) return null;
  const handle = ["timeout", "error"].find((name) => node.edges.has(name));
  if (handle === undefined) return "fails";
  // only of steps that code has asked for, an edge leads nowhere
  return node.edges.get(handle)!.length === 0 ? "its code gets the error" : `leaves by ${handleMark(handle)}`;
}

function tooLate(node: CompiledNode | null): string {
  const text = timeoutText(node);
  return text === null ? "" : `, and then ${text}`;
}

/** Says what one wait waits for; null for a time, and for children. */
export function wantedText(wait: WaitInfo): string | null {
  const part = wantedPart(wait);
  return part === null ? null : unmarked(part).sentence;
}

/** As `wantedText`, with the marks of the sentence. */
function wantedPart(wait: WaitInfo): string | null {
  const { kind, signal = "", key, workflowId = "" } = wait;
  if (kind === "external") return `${answerText(wait)}${refusalText(wait)}`;
  if (kind === "incident") return `a decision about its failure${failureText(wait)} (retry, skip or fail)`;
  if (kind === "child") return `the execution "${cut(workflowId, maxNameLength)}"`;
  if (kind === "delivery") return deliveryText(wait);
  if (kind === "timer" || kind === "children") return null;
  return `the signal "${cut(signal, maxNameLength)}"${key === undefined ? "" : ` with the key "${cut(key, maxNameLength)}"`}${refusalText(wait)}`;
}

/** Why the last answer did not count. */
function refusalText({ refused }: WaitInfo): string {
  if (!refused) return "";
  const { who, issues } = refused;
  const [first] = issues;
  const from = who === undefined ? "the last one" : `the answer of ${responderMark(cut(who, maxNameLength))}`;
  const why = first ? `: ${cut(`${first.pointer || "/"} ${first.message}`, maxReasonLength)}` : "";
  return ` (${from} was refused${why})`;
}

function deliveryText({ payload }: WaitInfo): string {
  const {
    workflowId,
    signal,
    key = "",
  } = payload as unknown as { readonly workflowId?: string; readonly signal: string; readonly key?: string };
  if (workflowId === undefined)
    return `its signal "${cut(signal, maxNameLength)}" to reach all executions that wait for it with the key "${cut(key, maxNameLength)}"`;
  return `its signal "${cut(signal, maxNameLength)}" to reach the execution "${cut(workflowId, maxNameLength)}"`;
}

function failureText({ payload }: WaitInfo): string {
  const { error } = payload as unknown as { readonly error: ErrorInfo };
  return error.message === "" ? "" : `, ${cut(error.message, maxReasonLength)}`;
}

function answerText({ responders, answered = [], missing, tally }: WaitInfo): string {
  const names = (some: readonly string[]): string[] => some.map((name) => responderMark(cut(name, maxNameLength)));
  const left = responders?.filter((name) => !answered.includes(name));
  const from = left ? ` from ${listed(names(left), "or")}` : "";
  if (missing === undefined) return `an answer${from}`;
  const has = answered.length === 1 ? "has" : "have";
  const told = answered.length === 0 ? "" : ` (${listed(names(answered), "and")} ${has} answered)`;
  const which = tally === undefined ? "" : ` with "${cut(tally, maxNameLength)}": true`;
  return `${counted(missing)}${answered.length === 0 ? "" : " more"} ${missing === 1 ? "answer" : "answers"}${which}${from}${told}`;
}
