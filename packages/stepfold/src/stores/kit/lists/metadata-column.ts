import type { Json } from "../../../core/values/json.ts";

type Metadata = Readonly<Record<string, Json>>;

/** The member of the stored metadata that tells the tenant: so lists find it as they find metadata, and no database has to know of it. */
const tenantKey = "~stepfold/tenant";

/** What a database keeps of metadata and tenant, and is asked for. Keys of users that look like that of the tenant get one `~` more. */
export function storedMetadata(metadata: Metadata, tenant: string | undefined): Metadata {
  const isLike = Object.keys(metadata).some((key) => key.startsWith(tenantKey));
  if (tenant === undefined && !isLike) return metadata;
  const members = Object.entries(metadata).map(([key, value]) => [key.startsWith(tenantKey) ? `${key}~` : key, value] as const);
  return Object.fromEntries(tenant === undefined ? members : [...members, [tenantKey, tenant] as const]);
}

/** Metadata and tenant, as they were given. */
export function givenMetadata(stored: Metadata): { readonly metadata: Metadata; readonly tenant?: string } {
  if (!Object.keys(stored).some((key) => key.startsWith(tenantKey))) return { metadata: stored };
  const members = Object.entries(stored).filter(([key]) => key !== tenantKey);
  const metadata = Object.fromEntries(members.map(([key, value]) => [key.startsWith(tenantKey) ? key.slice(0, -1) : key, value]));
  const tenant = Object.hasOwn(stored, tenantKey) ? stored[tenantKey] : undefined;
  return { metadata, ...(typeof tenant === "string" && { tenant }) };
}
