import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { DeliveredEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";

/** Takes messages out of the outbox of an execution, because they have arrived. */
export interface DeliveredCommand {
  readonly type: "delivered";
  /** Of the messages. Those that are not there have arrived before. */
  readonly ids: readonly string[];
}

/** The event of messages that have arrived. @throws StepfoldError `OPTION_INVALID` if none of them is in the outbox */
export function delivered(
  { outbox = [] }: Snapshot,
  { ids }: DeliveredCommand,
  stamp: { readonly version: number; readonly at: EpochMs },
): DeliveredEvent {
  const found = outbox.map(({ id }) => id).filter((id) => Array.isArray(ids) && ids.includes(id));
  if (found.length > 0) return { type: "delivered", ...stamp, ids: Object.freeze(found) };
  throw new StepfoldError("OPTION_INVALID", { option: "ids", reason: "must be a list of ids of messages in the outbox" });
}
