import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { isTerminal, type Snapshot } from "../../core/snapshot/snapshot.ts";
import { statusAfterMessages } from "../../core/transition/draft/outbox.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { PreparedWorkflow } from "../workflow/prepared-workflow.ts";
import { type ResumeCommand, resumeEvent } from "./answer-wait.ts";
import type { CommandStamp } from "./asked.ts";
import { type CancelCommand, cancelEvent } from "./cancel-paths.ts";
import { type AddItemCommand, type CloseMapCommand, type CompleteMapCommand, mapEvent } from "./change-map.ts";
import { type DeliveredCommand, deliveredEvent } from "./deliver-messages.ts";
import { childEndEvent, type EndChildCommand } from "./end-child.ts";
import { type RetryCommand, retryEvent } from "./retry-path.ts";
import { type SignalCommand, signalEvent } from "./send-signal.ts";
import { metadataEvent, type SetMetadataCommand } from "./set-metadata.ts";

/** A command that can be sent to an execution. */
export type Command =
  | ResumeCommand
  | SignalCommand
  | CancelCommand
  | RetryCommand
  | AddItemCommand
  | CloseMapCommand
  | CompleteMapCommand
  | EndChildCommand
  | DeliveredCommand
  | SetMetadataCommand;

/** A command that comes from outside, and not from another execution or from the engine. */
export type AskedCommand = Exclude<Command, EndChildCommand | DeliveredCommand>;

type Members<C> = { readonly [K in keyof C]-?: true };

/** The members of each command. */
const members: { readonly [C in Command as C["type"]]: Members<C> } = {
  resume: { type: true, target: true, payload: true, by: true, idempotencyKey: true },
  signal: { type: true, name: true, key: true, payload: true, onlyWaiting: true, ttl: true, by: true, idempotencyKey: true },
  cancel: { type: true, target: true, reason: true, by: true, parent: true },
  retry: { type: true, node: true, by: true },
  addItem: { type: true, node: true, item: true, by: true },
  closeMap: { type: true, node: true, by: true },
  completeMap: { type: true, node: true, by: true },
  endChild: { type: true, workflowId: true, waitId: true, incarnation: true, end: true },
  delivered: { type: true, ids: true },
  setMetadata: { type: true, patch: true, by: true, idempotencyKey: true },
};

/** Refuses members that a command does not have, because a misspelt one would do nothing. @throws StepfoldError `OPTION_UNKNOWN` */
export function checkMembers(command: Command): void {
  if (typeof command !== "object" || command === null || typeof command.type !== "string" || !Object.hasOwn(members, command.type))
    throw unknownCommand();
  refuseUnknown(command.type, command as object, Object.keys(members[command.type]));
}

/**
 * Returns the event that a command causes in a snapshot. The snapshot does not change.
 *
 * @throws StepfoldError `EXECUTION_ENDED`, `RESUME_AMBIGUOUS`, `RESUME_INVALID`, `CODE_NEEDED`, `RESPONDER_DENIED`, `WAIT_GONE`,
 * `WAIT_EXPIRED`, `RETRY_NOT_PENDING`, `MAP_CLOSED`, `INPUT_INVALID`, `NODE_UNKNOWN`, `OPTION_INVALID`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`
 */
export async function decide(
  workflow: PreparedWorkflow,
  snapshot: Snapshot,
  command: Command,
  now: EpochMs,
  limits: Limits,
): Promise<Event> {
  const { workflowId, status } = snapshot;
  if (isTerminal(status)) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status });
  if (typeof command !== "object" || command === null) throw unknownCommand();
  const stamp = { version: snapshot.version + 1, at: now, ...whoAsks(command) };
  const end = statusAfterMessages(snapshot);
  // an execution that only has to deliver its messages still accepts `delivered`, and `retry` if it is parked
  const goesOn = command.type === "delivered" || (command.type === "retry" && snapshot.parked !== undefined);
  if (end && !goesOn) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status: end });
  switch (command.type) {
    case "resume":
      return resumeEvent(workflow, snapshot, command, stamp, limits);
    case "signal":
      return signalEvent(workflow, snapshot, command, stamp, limits);
    case "cancel":
      return cancelEvent(snapshot, command, stamp);
    case "retry":
      return retryEvent(snapshot, command, stamp);
    case "addItem":
    case "closeMap":
    case "completeMap":
      return mapEvent(workflow, snapshot, command, stamp, limits);
    case "endChild":
      return childEndEvent(snapshot, command, stamp, limits);
    case "delivered":
      return deliveredEvent(snapshot, command, stamp);
    case "setMetadata":
      return metadataEvent(snapshot, command, stamp, limits);
    default:
      throw unknownCommand();
  }
}

/** @throws StepfoldError `OPTION_INVALID` */
function whoAsks(command: Command): Pick<CommandStamp, "who"> {
  if (!("by" in command) || command.by === undefined) return {};
  return { who: checkedName("by", command.by) };
}

function unknownCommand(): StepfoldError {
  const reason = "must be resume, signal, cancel, retry, addItem, closeMap, completeMap, setMetadata, endChild or delivered";
  return new StepfoldError("OPTION_INVALID", { option: "type", reason });
}
