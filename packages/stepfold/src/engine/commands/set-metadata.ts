import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { MetadataSetEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { patchedMetadata } from "../../core/transition/patched-metadata.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import { isJsonObject, sizeOfJson } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { Asked, CommandStamp } from "./asked.ts";
import { keepValue } from "./keep-value.ts";

/** Changes members of the metadata. */
export interface SetMetadataCommand extends Asked {
  readonly type: "setMetadata";
  /** New values by key; null removes a key. Keys that are not named stay as they are. */
  readonly patch: unknown;
  /** Changes with the same key and the same patch count as one change, however often they are sent. */
  readonly idempotencyKey?: string | undefined;
}

/** The event of a change of metadata. @throws StepfoldError `OPTION_INVALID`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED` */
export function metadataEvent(
  snapshot: Snapshot,
  { patch, idempotencyKey }: SetMetadataCommand,
  stamp: CommandStamp,
  limits: Limits,
): MetadataSetEvent {
  const { metadata: given } = keepValue(snapshot, "metadata", patch, limits);
  if (!isJsonObject(given)) throw new StepfoldError("OPTION_INVALID", { option: "patch", reason: "must be an object of values by key" });
  const metadata = patchedMetadata(snapshot.metadata, given);
  const key = idempotencyKey === undefined ? {} : { idempotencyKey: checkedName("idempotencyKey", idempotencyKey) };
  return { type: "metadataSet", ...stamp, metadata, sizeBytes: sizeOfJson(metadata), ...key };
}
