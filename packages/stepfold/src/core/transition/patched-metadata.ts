import type { Snapshot } from "../snapshot/snapshot.ts";

type Metadata = Snapshot["metadata"];

/** Returns metadata after a patch: members of the patch replace those with the same key, and a member that is null removes its key. */
export function patchedMetadata(metadata: Metadata, patch: Metadata): Metadata {
  const members = Object.entries({ ...metadata, ...patch }).filter(([key, value]) => !(value === null && Object.hasOwn(patch, key)));
  return Object.freeze(Object.fromEntries(members));
}
