import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { ErrorInfo } from "../errors/error-info.ts";
import { pathsOf, scopedKey } from "../snapshot/address.ts";
import { notUndone, undoneSteps } from "../snapshot/not-undone.ts";
import { type Ending, isTerminal, type Parked, type Snapshot, type Status } from "../snapshot/snapshot.ts";
import { statusAfterMessages } from "../transition/draft/outbox.ts";
import type { EpochMs } from "../values/json.ts";
import { addressMark, quoted, type SentenceMark, timeMark, unmarked } from "./explain-marks.ts";
import { type ExplainContext, explainContext, explainPath, itemText, nodeOfPath, type PlaceInfo, pathSentence } from "./explain-path.ts";
import { byImportance, frameIn, type OpenStatus, type Placed } from "./explain-survey.ts";
import { firstTime, timeoutText } from "./explain-wait.ts";
import { counted, cut, iso, listed, times } from "./explain-words.ts";
import { withoutMessages } from "./without-messages.ts";

/** What happens next without anything from outside. */
export interface NextInfo {
  /** The place where it happens, such as `map[3]/approve`; empty if it is the deadline of the execution itself. */
  readonly address: string;
  /** The time at which it happens; null means at once. */
  readonly at: EpochMs | null;
  readonly sentence: string;
}

/** The state of an execution, as data and in words. */
export interface Explanation {
  readonly status: Status;
  /** The state of the whole execution in one sentence. */
  readonly sentence: string;
  /** What stands where in the sentence: addresses of places, people, handles and times. Everything else is words, or quoted. */
  readonly marks: readonly SentenceMark[];
  /** The process that runs it now. Absent: none, or it is not known. Only with a store. */
  readonly worker?: string;
  /** Why no living worker can run it, and since when, as a sentence. Absent: nothing is known of that. Only with a store. */
  readonly noWorker?: string;
  /** In which run the execution is, and how often it was restarted, as a sentence. Absent: its first run, and never. */
  readonly runs?: string;
  /** The open places; if there are very many, the most important ones. Places in children come after the place that they belong to. */
  readonly places: readonly PlaceInfo[];
  /** The number of open places that `places` does not contain. */
  readonly more: number;
  /** What happens first by itself; null if the execution has ended, is parked, only delivers messages, or waits without a time. */
  readonly next: NextInfo | null;
}

/** How an execution is explained. */
export interface ExplainOptions {
  /**
   * False: without the messages of errors and the reasons of cancellations, which may quote data of the execution; codes and nodes stay.
   * Default true.
   */
  readonly messages?: boolean | undefined;
  /**
   * The process that runs the execution now: `lease.owner` of a list, while the lease lasts. Steps that can run are then told as running.
   * Absent or null: none, or it is not known.
   */
  readonly worker?: string | null | undefined;
}

/** The largest number of places of the execution itself that are explained one by one. */
const maxOwnPlaces = 20;
/** The largest number of places that are explained one by one, in the execution itself and its children together. */
const maxPlaces = 40;
/** The largest number of places of each child that are explained one by one. */
const maxChildPlaces = 5;
/** The largest length of an error message in a sentence, in characters. */
const maxErrorLength = 300;

/**
 * Explains what an execution does or waits for, who can answer it, until when, and what happens then. The explanation is short and is made
 * quickly, even if very many places are open.
 *
 * ```ts
 * const { sentence, places } = explain(snapshot, engine.workflow);
 * console.log(sentence); // approve waits for an answer from ada or bob, until 2026-01-31T09:00:00.000Z, and then leaves by "timeout".
 * for (const { address, sentence, waits } of places) console.log(address, sentence, waits[0]?.answer);
 * ```
 *
 * @param workflow the workflow of the snapshot. It adds details, such as the branches for which a join waits. Another one is ignored.
 */
export function explain(
  snapshot: Snapshot,
  workflow?: CompiledWorkflow,
  { messages = true, worker = null }: ExplainOptions = {},
): Explanation {
  const isHeld = worker !== null && !isTerminal(snapshot.status) && !snapshot.parked;
  const explained = explainState(messages ? snapshot : withoutMessages(snapshot), workflow, isHeld);
  const runs = runsText(snapshot);
  return { ...explained, ...(isHeld && { worker }), ...(runs !== "" && { runs }) };
}

function explainState(snapshot: Snapshot, workflow: CompiledWorkflow | undefined, isHeld: boolean): Explanation {
  const { status, parked } = snapshot;
  const end = statusAfterMessages(snapshot);
  if (end) return { status, ...unmarked(`${unmessageText(snapshot, end)}.`), places: [], more: 0, next: null };
  if (isTerminal(status)) return { status, ...unmarked(endText(snapshot)), places: [], more: 0, next: null };
  const tell = explainContext(snapshot, workflow, isHeld);
  const places = [...placesOf(tell)];
  const open = Object.values(tell.survey.counts).reduce((sum, count) => sum + count, 0);
  const more = open - places.length;
  if (parked) return { status, ...unmarked(parkedText(parked, snapshot, () => wholeText(tell))), places, more, next: null };
  return { status, ...unmarked(wholeText(tell)), places, more, next: nextOf(tell) };
}

function runsText({ run, restarts = 0 }: Snapshot): string {
  const parts = [run ? `run ${run.number} since ${iso(run.at)}` : "", restarts > 0 ? `restarted ${times(restarts)}` : ""].filter(Boolean);
  const text = parts.join(", ");
  return text === "" ? "" : `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

function parkedText({ code, message, until }: Parked, snapshot: Snapshot, otherwise: () => string): string {
  const { ending } = snapshot;
  if (ending?.again && code === "COMPENSATION_FAILED") {
    const end = endText({ ...snapshot, status: ending.status });
    return `${end.slice(0, -1)} (${quoted(code)}). It can be tried again (retry) or given up (cancel).`;
  }
  const then = until === undefined ? "it goes on after a retry command" : `it is tried again at ${timeMark(until)}`;
  return `Parked${messageText(message)} (${quoted(code)}); ${then}. ${otherwise()}`;
}

/** Says how an execution ends that only delivers messages, and to which executions, as a sentence without its full stop. */
function unmessageText(snapshot: Snapshot, status: Ending["status"]): string {
  const others = new Set(
    snapshot.outbox!.map((message) =>
      message.type === "broadcast" ? "all executions that wait for its signal" : `the execution "${quoted(message.to)}"`,
    ),
  );
  return `${endText({ ...snapshot, status }).slice(0, -1)}; messages are still to be delivered to ${listed([...others], "and")}`;
}

function placesOf(tell: ExplainContext): PlaceInfo[] {
  const places: PlaceInfo[] = [];
  const { snapshot, survey: found } = tell;
  const add = (scope: string, maxCount: number): void => {
    const paths = pathsOf(snapshot, scope);
    const frame = frameIn(paths, () => tell.workflow(scope));
    const open = frame ? paths.filter((path) => path !== frame) : paths;
    for (const path of byImportance(open, maxCount)) {
      if (places.length >= maxPlaces) return;
      places.push(explainPath(tell, { scope, path }));
      const group = path.children && found.groups.get(scopedKey(scope, path.children.key));
      for (const child of group?.first ?? []) add(child, maxChildPlaces);
    }
  };
  add("", maxOwnPlaces);
  return places;
}

function endText(snapshot: Snapshot): string {
  const { status, error, currentNodeId, compensations } = snapshot;
  const left = notUndone(compensations);
  const notes = left.length === 0 ? "" : `; not undone: ${notUndoneText(left)}`;
  if (status === "completed") return `Completed${notes}.`;
  const undone = undoneSteps(compensations).map(({ scope, nodeId }) => `${addressMark(nodeId)}${itemText(scope)}`);
  const done = undone.length === 0 ? "" : `; undone: ${listed(undone, "and")}`;
  // of a cancelled execution the only error may be what could not be undone
  if (status === "cancelled") return `Cancelled${reasonText(error)}${done}${notes}.`;
  return `Failed${failureText(error, currentNodeId)}${done}${notes}.`;
}

/** Returns the reason for which a scope was cancelled, or the failure before it. Failed compensations are described by `notUndoneText`. */
function reasonText(error: ErrorInfo | undefined): string {
  if (!error || error.code === "COMPENSATION_FAILED") return "";
  return error.code === "EXECUTION_CANCELLED" ? messageText(error.message) : failureText(error, null);
}

function notUndoneText(left: ReturnType<typeof notUndone>): string {
  return listed(
    left.map(({ scope, nodeId, error }) => {
      const why = messageText(error).slice(2);
      return `${addressMark(nodeId)}${itemText(scope)}${why === "" ? "" : ` (${why})`}`;
    }),
    "and",
  );
}

function failureText(error: ErrorInfo | undefined, nodeId: string | null): string {
  const at = error?.nodeId ?? nodeId;
  const code = error?.code === undefined ? "" : ` (${quoted(error.code)})`;
  return `${at === null ? "" : ` at ${addressMark(at)}`}${error ? `${messageText(error.message)}${code}` : ""}`;
}

/** Returns a message after a colon, without its full stop; empty if there is none, or if it may not be shown. */
function messageText(message: string): string {
  const text = cut(message, maxErrorLength).replace(/\.$/, "");
  return text === "" ? "" : `: ${text}`;
}

type Phrase = readonly [OpenStatus, one: string, many: string];

const readyPhrase: Phrase = ["running", "is ready to run", "are ready to run"];
const runningPhrase: Phrase = ["running", "is running", "are running"];
/** The words for each other status in the sentence about all open places, in singular and plural. */
const phrases: readonly Phrase[] = [
  ["retrying", "is to be retried", "are to be retried"],
  ["somebody", "waits for an answer", "wait for an answer"],
  ["signal", "waits for a signal", "wait for a signal"],
  ["execution", "waits for another execution", "wait for other executions"],
  ["time", "waits for a time", "wait for a time"],
  ["branches", "waits for other branches", "wait for other branches"],
  ["turn", "waits for its turn", "wait for their turn"],
  ["place", "waits for a free slot of its map", "wait for free slots of their maps"],
];

function wholeText(tell: ExplainContext): string {
  const { snapshot, survey: found } = tell;
  const { ending, error, deadlineAt, closing } = snapshot;
  // a failed compensation is tried again only after the messages are delivered
  if (ending?.again?.length === 0)
    return `${unmessageText(snapshot, ending.status)}; after that, what was not undone can be tried again (retry) or given up (cancel).`;
  const latest = deadlineAt === undefined ? "" : ` It fails if it has not ended by ${timeMark(deadlineAt)}.`;
  const now = found.only ? pathSentence(tell, found.only) : countsText(found.counts, tell.isHeld);
  if (closing) return `${decidedText(closing)}; its "finally" nodes run: ${now}.`;
  if (ending) {
    return `${decidedText(ending)}; ${ending.again ? "failed compensations are tried again" : "its steps are being undone"}: ${now}.`;
  }
  return error ? `Will fail${failureText(error, null)}, once its other paths have ended: ${now}.` : `${now}.${latest}`;
}

/** Describes an end that is decided but not reached yet. */
function decidedText({ status, error, nodeId }: Pick<Ending, "status" | "error" | "nodeId">): string {
  if (status === "failed") return `Failed${failureText(error, nodeId)}`;
  return status === "cancelled" ? `Cancelled${reasonText(error)}` : "Completed";
}

function countsText(counts: Readonly<Record<OpenStatus, number>>, isHeld: boolean): string {
  const parts = [isHeld ? runningPhrase : readyPhrase, ...phrases].filter(([standing]) => counts[standing] > 0);
  const [first] = parts;
  if (first && parts.length === 1) return `${counted(counts[first[0]])} places ${first[2]}`;
  const open = parts.reduce((sum, [standing]) => sum + counts[standing], 0);
  const told = parts.map(([standing, one, many]) => `${counted(counts[standing])} ${counts[standing] === 1 ? one : many}`);
  return `${counted(open)} places are open: ${told.join(", ")}`;
}

function nextOf(tell: ExplainContext): NextInfo | null {
  const { ready, first, deadline } = tell.survey;
  if (ready) {
    const address = tell.address(ready.scope, ready.path.nodeId);
    return { address, at: null, sentence: unmarked(`${pathSentence(tell, ready)}.`).sentence };
  }
  if (deadline && deadline.at < (first?.at ?? Number.POSITIVE_INFINITY)) {
    const { scope, at } = deadline;
    const what = scope === "" ? "" : tell.address(scope, "").slice(0, -1);
    return { address: what, at, sentence: `At ${iso(at)} ${what || "the execution"} fails, unless it has ended.` };
  }
  if (!first) return null;
  const { scope, path, at } = first;
  const address = tell.address(scope, path.nodeId);
  return { address, at, sentence: unmarked(`At ${iso(at)} ${address} ${movesText(tell, first)}.`).sentence };
}

function movesText(tell: ExplainContext, placed: Placed): string {
  const { status, attempts, waits = [] } = placed.path;
  if (status === "retrying") return `is tried again (attempt ${attempts + 1})`;
  if (!firstTime(waits)!.late) return "goes on by itself";
  const text = timeoutText(nodeOfPath(tell, placed));
  return text === null ? "times out" : `times out, and ${text}`;
}
