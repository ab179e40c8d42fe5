import type { ListedWait } from "../../../core/transition/draft/listed-waits.ts";
import { isJsonObject, type Json } from "../../../core/values/json.ts";

type Metadata = Readonly<Record<string, Json>>;

// Members of the stored metadata that are no metadata: so lists find and show what they say as they find metadata, and no database has to know of it.

/** Tells the tenant. */
const tenantKey = "~stepfold/tenant";
/** Tells the open waits. */
export const waitsKey = "~stepfold/waits";

const isOurs = (key: string): boolean => key.startsWith(tenantKey) || key.startsWith(waitsKey);

/** What a database keeps of metadata, tenant and waits, and is asked for. Keys of users that look like ours get one `~` more. */
export function storedMetadata(metadata: Metadata, tenant: string | undefined, waits: readonly ListedWait[] = []): Metadata {
  if (tenant === undefined && waits.length === 0 && !Object.keys(metadata).some(isOurs)) return metadata;
  const members = Object.entries(metadata).map(([key, value]) => [isOurs(key) ? `${key}~` : key, value] as const);
  return Object.fromEntries([
    ...members,
    ...(tenant === undefined ? [] : [[tenantKey, tenant] as const]),
    ...(waits.length === 0 ? [] : [[waitsKey, waits as unknown as Json] as const]),
  ]);
}

/** Metadata, tenant and waits, as they were given. */
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

/** What somebody has edited in the database must not end a list. */
function isListedWait(wait: Json): boolean {
  if (!isJsonObject(wait) || typeof wait.kind !== "string" || typeof wait.nodeId !== "string") return false;
  return wait.responders === undefined || Array.isArray(wait.responders);
}
