import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal, type Status } from "../../../core/snapshot/snapshot.ts";
import type { Permit } from "../../../core/values/shared-keys.ts";
import type { RowAnswer, RowChanges, RowHistory, RowWrite } from "../../kit/execution-rows.ts";
import { bytesOf } from "../../kit/writing/value-limit.ts";
import type { CallScript } from "./redis-client.ts";
import { eventRow, replyList, textIn } from "./redis-reply.ts";
import { writeScript } from "./write-script.ts";

/** The most writes in one script. It is small, because nothing else runs on the server during a script. */
export const maxWrites = 50;
/** The most text in one script, in characters, unless a single write has more. */
const maxTextLength = 1_000_000;

/** The most children of one commit that keep their order. */
const maxChildrenOfCommit = 1_000_000;

/** The limits of a server. */
export interface WriteLimits {
  /** Name of the store. */
  readonly name: string;
  /** How many milliseconds the server keeps a tombstone, as text. */
  readonly retentionMs: string;
  /** The largest write, in bytes of the JSON request that carries it. */
  readonly maxRequestBytes: number;
}

/** Makes writes. Most groups need one script; groups with much text are split, and a write that is too large is refused and not sent. */
export async function sendWrites(call: CallScript, writes: readonly RowWrite[], limits: WriteLimits): Promise<RowAnswer[]> {
  const answers = new Map<RowWrite, RowAnswer>();
  const portions: { readonly write: RowWrite; readonly args: readonly string[] }[][] = [];
  let portionLength = Number.POSITIVE_INFINITY;
  for (const write of writes) {
    const args = writeArgs(write, limits.retentionMs);
    const length = args.reduce((sum, arg) => sum + arg.length, 0);
    const refused = refusalOf(write.id, args, length, limits);
    if (refused) {
      answers.set(write, refused);
      continue;
    }
    portionLength += length;
    if (portionLength > maxTextLength) {
      portions.push([]);
      portionLength = length;
    }
    portions.at(-1)!.push({ write, args });
  }
  const send = async (portion: (typeof portions)[number]): Promise<void> => {
    const [ids, args] = [portion.map(({ write }) => write.id), portion.flatMap((one) => one.args)];
    const replies = await call(writeScript, ids, args);
    for (const [index, { write }] of portion.entries()) answers.set(write, answerOf(write, replyList(replies[index]), limits));
  };
  await Promise.all(portions.map(send));
  return writes.map((write) => answers.get(write)!);
}

/**
 * Returns the error for a write that does not fit into one request, else null. Text grows when it becomes part of JSON, at most sixfold, so
 * the exact size need not be computed for small writes.
 */
function refusalOf(id: string, args: readonly string[], length: number, { name, maxRequestBytes: max }: WriteLimits): StepfoldError | null {
  if (length * 6 <= max) return null;
  const actual = bytesOf(JSON.stringify(args));
  if (actual <= max) return null;
  return new StepfoldError("LIMIT_EXCEEDED", { what: `A commit of execution "${id}"`, limit: `${name} request in bytes`, max, actual });
}

function answerOf(write: RowWrite, reply: readonly unknown[], { name: store }: WriteLimits): RowAnswer {
  const [now, version, status] = reply.map(textIn);
  if (now === "damaged") {
    return new StepfoldError("STORE_REJECTED", { store, reason: `the stored data of execution "${write.id}" is damaged` });
  }
  if (now == null) return null;
  const after = changesOf(write).state ?? { version: Number(version), status: status as Status };
  return { now: Number(now), version: after.version, status: after.status };
}

/**
 * Returns a write in the form that `writeScript` reads: one text of words, then the incarnation, fields, events and children. The words
 * are the kind, the expected version, fence and `runSince`, `due` if the execution must be due, its next due time, flags, and the numbers of
 * arguments for fields, events and children; an absent word is empty. Flags: the execution must be held (h), not held (f), open (o), ended
 * (t), deleted (d); the due time changes only if nobody holds the execution (u); the execution ends (e), or begins a run (r); among the
 * fields is the time from which it needs no permit (x), or its permit (p).
 */
function writeArgs(write: RowWrite, retentionMs: string): string[] {
  const when = write.kind === "insert" ? { incarnation: write.row.incarnation } : write.when;
  const { state, due, dueUnlessHeld } = changesOf(write);
  const { commitId, events, children } = ("history" in write && write.history) || noHistory;
  const fields = fieldsOf(write, retentionMs);
  const flags = [
    when.held === undefined ? "" : when.held ? "h" : "f",
    when.open === undefined ? "" : when.open ? "o" : "t",
    ...[when.deleted ? "d" : "", dueUnlessHeld ? "u" : "", state && isTerminal(state.status) ? "e" : "", state?.run ? "r" : ""],
    exemptFields(write).length > 0 ? "x" : "",
    write.kind === "insert" || changesOf(write).permit !== undefined ? "p" : "",
  ].join("");
  const counts = [fields.length, events.length, children.length * 3];
  const words = [
    write.kind,
    when.version ?? "",
    when.fence ?? "",
    when.runSince ?? "",
    when.due ? "due" : "",
    dueText(due, state),
    flags,
    ...counts,
  ];
  const args = [words.join(" "), when.incarnation, ...fields];
  for (const { text } of events) args.push(eventRow(commitId, text));
  for (const [index, { key, text, moved }] of children.entries()) {
    // children are sorted by this number
    const ordinal = (state?.version ?? 0) * maxChildrenOfCommit + index;
    args.push(`=${key}`, moved ? "1" : "", text === null ? "" : `${ordinal}:${text}`);
  }
  return args;
}

const noHistory: RowHistory = { commitId: "", events: [], children: [] };

function changesOf(write: RowWrite): RowChanges {
  if (write.kind === "insert") return { state: write.row, due: write.row.due };
  return write.kind === "update" ? write.set : {};
}

/**
 * Returns names and values of the fields that a write sets: first the permit, then the time from which no permit is needed, if they are among
 * them; of a deletion how long a tombstone stays.
 */
function fieldsOf(write: RowWrite, retentionMs: string): string[] {
  if (write.kind === "insert") {
    const { permit, incarnation, owner, fence, definitionId, definition, metadata, labels } = write.row;
    return [
      ...permitFields(permit),
      ...exemptFields(write),
      ...["incarnation", incarnation, ...stateFields(write.row)],
      ...["fence", String(fence), "owner", owner ?? "", "definitionId", definitionId],
      ...["definition", definition, "metadata", metadata, "labels", labels],
    ];
  }
  if (write.kind === "trim") return [];
  if (write.kind !== "update") return ["retentionMs", retentionMs];
  const { state, owner, fence, crashes, permit, metadata, labels = "" } = write.set;
  return [
    ...(permit === undefined ? [] : permitFields(permit)),
    ...exemptFields(write),
    ...(state ? stateFields(state) : []),
    ...(state?.checkpointVersion === undefined ? [] : ["checkpoint", String(state.checkpointVersion)]),
    ...(metadata === undefined ? [] : ["metadata", metadata, "labels", labels]),
    ...(owner === undefined ? [] : ["owner", owner ?? ""]),
    ...(fence === undefined ? [] : ["fence", String(fence)]),
    ...(crashes === undefined ? [] : ["crashes", String(crashes)]),
    ...(state?.trimmed === undefined ? [] : ["trimmed", String(state.trimmed)]),
    // the last field is the time when the run began: the script reads it
    ...(state?.run ? ["run", String(state.run.since), "runAt", String(state.run.at)] : []),
  ];
}

function permitFields(permit: Permit | null): string[] {
  return ["permit", permit ? `${permit.limit}:${permit.key}` : ""];
}

/** Returns the field with the time from which no permit is needed; none if the write does not set it, so that others cost nothing. */
function exemptFields(write: RowWrite): string[] {
  const { exemptAt } = changesOf(write).state ?? {};
  if (exemptAt === undefined || (exemptAt === null && write.kind === "insert")) return [];
  return ["exempt", String(exemptAt ?? "")];
}

function stateFields({ version, status, head, sizeBytes, wakeAt }: NonNullable<RowChanges["state"]>): string[] {
  return ["version", String(version), "status", status, "head", head, "size", String(sizeBytes), "wake", String(wakeAt ?? "")];
}

/** Returns the next due time: `+ms` from now, `@wakeAt` (`@`: never), `@stored` for the stored `wakeAt`; empty: no change. */
function dueText(due: RowChanges["due"], state: RowChanges["state"]): string {
  if (due === undefined) return "";
  if (due !== "atWakeUp") return `+${due.inMs}`;
  return state ? `@${state.wakeAt ?? ""}` : "@stored";
}
