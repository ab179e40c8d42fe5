import { isTerminal, type Status } from "../../../core/snapshot/snapshot.ts";
import type { DueChange, RowChanges, RowCondition, RowHistory, RowWrite } from "../../kit/execution-table.ts";
import { eventRow } from "./redis-reply.ts";

/** Children of one commit, at most, that keep their order. */
const childrenOfCommit = 1_000_000;

/** The field of a head that says that an execution has a label. */
export function labelField(label: string): string {
  return `l:${label}`;
}

/** A count, and so many texts. */
export function manyArgs(values: readonly string[]): string[] {
  return [String(values.length), ...values];
}

/** A write as `writeScript` reads it: kind, condition, due time, then fields, events and children. What is absent is "". */
export function writeArgs(write: RowWrite, retentionMs: string): string[] {
  switch (write.kind) {
    case "insert": {
      const { permit, incarnation, owner, fence, definitionId, definition, metadata, labels, due, status } = write.row;
      const fields = {
        ...{ permit: permit ? `${permit.limit}:${permit.key}` : "", incarnation, ...stateFields(write.row), fence: String(fence) },
        ...{ owner: owner ?? "", definitionId, definition, metadata },
        ...Object.fromEntries(labels.map((label) => [labelField(label), ""])),
      };
      return [
        "insert",
        ...conditionArgs({ incarnation: "" }),
        ...dueArgs({ due }, status),
        ...fieldArgs(fields),
        ...historyArgs(write.history, 0),
      ];
    }
    case "update": {
      const { state, owner, fence, crashes } = write.set;
      const fields = {
        ...(state && stateFields(state)),
        ...(owner !== undefined && { owner: owner ?? "" }),
        ...(fence !== undefined && { fence: String(fence) }),
        ...(crashes !== undefined && { crashes: String(crashes) }),
      };
      const historyOf = historyArgs(write.history, state?.version ?? 0);
      return ["update", ...conditionArgs(write.when), ...dueArgs(write.set, state?.status), ...fieldArgs(fields), ...historyOf];
    }
    case "bury":
    case "remove":
      return [write.kind, ...conditionArgs(write.when), ...dueArgs({}), ...fieldArgs({ retentionMs }), ...historyArgs(undefined, 0)];
  }
}

function fieldArgs(fields: Readonly<Record<string, string>>): string[] {
  return manyArgs(Object.entries(fields).flat());
}

function stateFields({ version, status, head, wakeAt }: NonNullable<RowChanges["state"]>): Record<string, string> {
  return { version: String(version), status, head, wake: text(wakeAt) };
}

function conditionArgs({ incarnation, version, fence, held, open, dueForMs, deleted }: RowCondition): string[] {
  const isHeld = held === undefined ? "" : held ? "1" : "0";
  return [incarnation, text(version), text(fence), isHeld, open ? "1" : "", text(dueForMs), deleted ? "1" : ""];
}

function dueArgs({ due, dueUnlessHeld }: RowChanges, status?: Status): [due: string, unlessHeld: string, ends: string] {
  return [due ? dueText(due) : "", dueUnlessHeld ? "1" : "", status && isTerminal(status) ? "1" : ""];
}

function dueText(due: DueChange): string {
  if (due === "now") return "now";
  return "inMs" in due ? `+${due.inMs}` : due.at === null ? "never" : String(due.at);
}

function historyArgs({ commitId, events, children }: RowHistory = { commitId: "", events: [], children: [] }, version: number): string[] {
  const place = (index: number): string => `${version * childrenOfCommit + index}:`;
  const changed = children.flatMap(({ key, text: head, last }, index) => [
    `=${key}`,
    last ? "1" : "",
    head === null ? "" : place(index) + head,
  ]);
  return [...manyArgs(events.map((event) => eventRow(commitId, event.text))), ...manyArgs(changed)];
}

function text(value: number | null | undefined): string {
  return String(value ?? "");
}
