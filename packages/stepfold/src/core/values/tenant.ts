import { sha256 } from "./hash/sha256.ts";

/** The longest id of an execution, and the longest concurrency key. */
const maxLength = 255;

/**
 * Adds the tenant to an id or key that is made for an execution, so that two tenants never have the same one, whatever their names and keys
 * are. Without a tenant the text stays as it is, unless it begins like a text of a tenant.
 *
 * The tenant is written as JSON, so that it is clear where it ends.
 */
export function ofTenant(tenant: string | undefined, text: string): string {
  if (tenant === undefined) return text.startsWith('"') ? `""/${text}` : text;
  const prefix = `${JSON.stringify(tenant)}/`;
  // the text is made from another id of the same tenant, which has the prefix already
  return text.startsWith(prefix) ? text : `${prefix}${text}`;
}

/** Returns the same as `ofTenant`, but no longer than stores can index: a longer text becomes a digest in a form that no other text has. */
export function indexedOfTenant(tenant: string | undefined, text: string): string {
  const whole = ofTenant(tenant, text);
  return whole.length <= maxLength ? whole : `"${sha256(whole)}`;
}
