import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { openScopes } from "../../core/snapshot/address.ts";
import type { ResumedEvent } from "../../core/snapshot/event.ts";
import type { ChildEnd } from "../../core/snapshot/parts/message.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { CommandStamp } from "./asked.ts";
import { keepValue } from "./keep-value.ts";

/** Tells an execution that its detached child has ended, or whether the signal that it has sent arrived. */
export interface EndChildCommand {
  readonly type: "endChild";
  /** The execution that has ended, or that the signal was sent to. */
  readonly workflowId: string;
  /** Id of the wait that this answers. */
  readonly waitId: string;
  /** Incarnation of the parent: a new execution with the same id has another one. */
  readonly incarnation?: string | undefined;
  readonly end: ChildEnd;
}

/**
 * Returns the event of a child's end.
 *
 * @throws StepfoldError `WAIT_GONE` if the execution does not wait for it, or no longer does; `OPTION_INVALID`, `LIMIT_EXCEEDED`
 */
export function childEndEvent(
  snapshot: Snapshot,
  { workflowId, waitId, incarnation, end }: EndChildCommand,
  stamp: CommandStamp,
  limits: Limits,
): ResumedEvent {
  const found = incarnation === snapshot.incarnation ? findWait(snapshot, workflowId, waitId) : null;
  if (!found) throw new StepfoldError("WAIT_GONE", { workflowId: snapshot.workflowId, target: waitId, open: [] });
  const { scope, pathId, kind } = found;
  checkEnd(end);
  const kept = keepValue(snapshot, "payload", end, limits);
  return { type: "resumed", ...stamp, ...(scope !== "" && { scope }), pathId, waitId, by: kind, ...kept };
}

interface MessageWait {
  readonly scope: string;
  readonly pathId: string;
  readonly kind: "child" | "delivery";
}

function findWait(snapshot: Snapshot, workflowId: string, waitId: string): MessageWait | null {
  for (const [scope, paths] of openScopes(snapshot)) {
    for (const { id: pathId, waits = [] } of paths) {
      const wait = waits.find(({ id }) => id === waitId);
      if (wait?.kind === "delivery") return { scope, pathId, kind: wait.kind };
      if (wait?.kind === "child" && wait.workflowId === workflowId) return { scope, pathId, kind: wait.kind };
    }
  }
  return null;
}

function checkEnd(end: unknown): void {
  const error = safeMember(end, "error");
  const isEnd = ["completed", "failed", "cancelled"].includes(String(safeMember(end, "status")));
  if (isEnd && (error === undefined || (isText(error, "name") && isText(error, "message")))) return;
  const reason = 'must be { status: "completed" | "failed" | "cancelled", output?, error?: { name, message, code? } }';
  throw new StepfoldError("OPTION_INVALID", { option: "end", reason });
}

function isText(value: unknown, member: string): boolean {
  return typeof safeMember(value, member) === "string";
}
