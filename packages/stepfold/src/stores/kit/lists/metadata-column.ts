import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import { isJsonObject, type Json } from "../../../core/values/json.ts";

type Metadata = Readonly<Record<string, Json>>;

// Tenant and waits are stored as additional members of the metadata. So lists find and return them like metadata, and no database needs
// columns for them.

/** The member that holds the tenant. */
const tenantKey = "~stepfold/tenant";
/** The member that holds the open waits. */
export const waitsKey = "~stepfold/waits";

const isOurs = (key: string): boolean => key.startsWith(tenantKey) || key.startsWith(waitsKey);

/**
 * Combines metadata, tenant and waits to one object, for storing and searching. A user's key that begins like the key of one of these
 * members gets one more `~` at its end.
 */
export function storedMetadata(metadata: Metadata, tenant: string | undefined, waits: readonly ListedWait[] = []): Metadata {
  if (tenant === undefined && waits.length === 0 && !Object.keys(metadata).some(isOurs)) return metadata;
  const members = Object.entries(metadata).map(([key, value]) => [isOurs(key) ? `${key}~` : key, value] as const);
  return Object.fromEntries([
    ...members,
    ...(tenant === undefined ? [] : [[tenantKey, tenant] as const]),
    ...(waits.length === 0 ? [] : [[waitsKey, waits as unknown as Json] as const]),
  ]);
}

/** Splits a stored object into metadata, tenant and waits, as they were given. */
export function givenMetadata(stored: Metadata): {
  readonly metadata: Metadata;
  readonly tenant?: string;
  readonly waits?: readonly ListedWait[];
} {
  if (!Object.keys(stored).some(isOurs)) return { metadata: stored };
  const members = Object.entries(stored).filter(([key]) => key !== tenantKey && key !== waitsKey);
  const metadata = Object.fromEntries(members.map(([key, value]) => [isOurs(key) ? key.slice(0, -1) : key, value]));
  const tenant = Object.hasOwn(stored, tenantKey) ? stored[tenantKey] : undefined;
  const waits = Object.hasOwn(stored, waitsKey) ? stored[waitsKey] : undefined;
  return {
    metadata,
    ...(typeof tenant === "string" && { tenant }),
    ...(Array.isArray(waits) && { waits: waits.filter(isListedWait) as unknown as readonly ListedWait[] }),
  };
}

/** Returns true for a valid wait. Others, for example after a manual edit, are left out, so that they do not break a list. */
function isListedWait(wait: Json): boolean {
  if (!isJsonObject(wait) || typeof wait.kind !== "string" || typeof wait.nodeId !== "string") return false;
  return wait.responders === undefined || Array.isArray(wait.responders);
}
