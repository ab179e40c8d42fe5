import { sha256 } from "./sha256.ts";

/** The longest id of an execution, and the longest concurrency key. */
const maxLength = 255;

/**
 * An id or key that is made for an execution, such that no two tenants ever have the same one, whatever their names and keys are.
 * For an execution without a tenant it stays as it is, unless it looks like one of a tenant.
 *
 * A tenant is written as JSON, so that its end is known.
 */
export function ofTenant(tenant: string | undefined, text: string): string {
  if (tenant === undefined) return text.startsWith('"') ? `""/${text}` : text;
  const prefix = `${JSON.stringify(tenant)}/`;
  // an id that is made of another one of the same tenant
  return text.startsWith(prefix) ? text : `${prefix}${text}`;
}

/** The same, no longer than stores can index: a longer one becomes a digest, which no other text looks like. */
export function indexedOfTenant(tenant: string | undefined, text: string): string {
  const whole = ofTenant(tenant, text);
  return whole.length <= maxLength ? whole : `"${sha256(whole)}`;
}
