import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { DueChange, RowChanges, RowCondition, RowHistory, RowWrite } from "../../kit/execution-table.ts";
import { eventRow } from "./redis-reply.ts";

/** Children of one commit, at most, that keep their order. */
const maxChildrenOfCommit = 1_000_000;

/** The field of a head that says that an execution has a label. */
export function labelField(label: string): string {
  return `l:${label}`;
}

/** A count, and so many texts. */
export function manyArgs(values: readonly string[]): string[] {
  return [String(values.length), ...values];
}

/** What of a write differs by its kind. */
interface WriteParts {
  readonly when: RowCondition;
  readonly change?: RowChanges;
  /** Of the head. Of a tombstone: how long it is kept. */
  readonly fields: Readonly<Record<string, string>>;
  readonly history?: RowHistory | undefined;
  readonly version?: number | undefined;
}

/**
 * A write as `writeScript` reads it: one text of words without spaces, then the incarnation, fields, events and children. The words
 * are kind, version, fence, whether it has to be due, its next due time, flags, and the counts of what follows. What is absent is
 * empty. Flags: it has to be held (h), free (f), open (o), deleted (d); the due time counts unless held (u); it ends (e).
 */
export function writeArgs(write: RowWrite, retentionMs: string): string[] {
  const { when, change = {}, fields, history, version = 0 } = partsOf(write, retentionMs);
  const { due, dueUnlessHeld, state } = change;
  const flags = [
    when.held === undefined ? "" : when.held ? "h" : "f",
    ...[when.open ? "o" : "", when.deleted ? "d" : "", dueUnlessHeld ? "u" : "", state && isTerminal(state.status) ? "e" : ""],
  ].join("");
  const { commitId, events, children } = history ?? noHistory;
  const counts = [Object.keys(fields).length * 2, events.length, children.length * 3];
  const words = [write.kind, when.version ?? "", when.fence ?? "", when.due ? "due" : "", due ? dueText(due, state) : "", flags, ...counts];
  const args = [words.join(" "), when.incarnation];
  for (const name in fields) args.push(name, fields[name]!);
  for (const { text } of events) args.push(eventRow(commitId, text));
  for (const [index, { key, text, last }] of children.entries()) {
    // children are in the order of these numbers
    const place = version * maxChildrenOfCommit + index;
    args.push(`=${key}`, last ? "1" : "", text === null ? "" : `${place}:${text}`);
  }
  return args;
}

const noHistory: RowHistory = { commitId: "", events: [], children: [] };

function partsOf(write: RowWrite, retentionMs: string): WriteParts {
  switch (write.kind) {
    case "insert": {
      const { permit, incarnation, owner, fence, definitionId, definition, metadata, labels, due, ...state } = write.row;
      const fields = {
        ...{ permit: permit ? `${permit.limit}:${permit.key}` : "", incarnation, ...stateFields(state), fence: String(fence) },
        ...{ owner: owner ?? "", definitionId, definition, metadata },
        ...Object.fromEntries(labels.map((label) => [labelField(label), ""])),
      };
      return { when: { incarnation }, change: { state, due }, fields, history: write.history };
    }
    case "update": {
      const { state, owner, fence, crashes } = write.set;
      const fields = {
        ...(state && stateFields(state)),
        ...(owner !== undefined && { owner: owner ?? "" }),
        ...(fence !== undefined && { fence: String(fence) }),
        ...(crashes !== undefined && { crashes: String(crashes) }),
      };
      return { when: write.when, change: write.set, fields, history: write.history, version: state?.version };
    }
    case "bury":
    case "remove":
      return { when: write.when, fields: { retentionMs } };
  }
}

function stateFields({ version, status, head, wakeAt }: NonNullable<RowChanges["state"]>): Record<string, string> {
  return { version: String(version), status, head, wake: String(wakeAt ?? "") };
}

function dueText(due: DueChange, state: RowChanges["state"]): string {
  if (due !== "atWakeUp") return `+${due.inMs}`;
  return state ? `@${state.wakeAt ?? ""}` : "@stored";
}
