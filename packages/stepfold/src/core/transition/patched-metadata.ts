import type { Snapshot } from "../snapshot/snapshot.ts";

type Metadata = Snapshot["metadata"];

/** Metadata after a patch: its members take the place of those with the same key, and null takes a key away. */
export function patchedMetadata(metadata: Metadata, patch: Metadata): Metadata {
  const members = Object.entries({ ...metadata, ...patch }).filter(([key, value]) => !(value === null && Object.hasOwn(patch, key)));
  return Object.freeze(Object.fromEntries(members));
}
