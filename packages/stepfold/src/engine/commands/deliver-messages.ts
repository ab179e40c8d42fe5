import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { DeliveredEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { CommandStamp } from "./asked.ts";

/** Removes messages from the outbox of an execution, because they were delivered. */
export interface DeliveredCommand {
  readonly type: "delivered";
  /** Ids of the messages. An id that is not in the outbox was delivered before. */
  readonly ids: readonly string[];
}

/** The event of messages that have arrived. @throws StepfoldError `OPTION_INVALID` if none of them is in the outbox */
export function deliveredEvent({ outbox = [] }: Snapshot, { ids }: DeliveredCommand, stamp: CommandStamp): DeliveredEvent {
  const found = outbox.map(({ id }) => id).filter((id) => Array.isArray(ids) && ids.includes(id));
  if (found.length > 0) return { type: "delivered", ...stamp, ids: Object.freeze(found) };
  throw new StepfoldError("OPTION_INVALID", { option: "ids", reason: "must be a list of ids of messages in the outbox" });
}
