import { sha256 } from "../hash/sha256.ts";

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

/** Returns true if an id or a key is one of the tenant's by its name. */
export function isOfTenant(tenant: string, text: string): boolean {
  return text.startsWith(`${JSON.stringify(tenant)}/`);
}

/** Returns an id or a key without the tenant that `ofTenant` has added. */
export function withoutTenant(tenant: string, text: string): string {
  return isOfTenant(tenant, text) ? text.slice(JSON.stringify(tenant).length + 1) : text;
}

/** Returns the same as `ofTenant`, but no longer than stores can index: a longer text becomes a digest in a form that no other text has. */
export function indexedOfTenant(tenant: string | undefined, text: string): string {
  const whole = ofTenant(tenant, text);
  return whole.length <= maxLength ? whole : `"${sha256(whole)}`;
}

/** The form of what `indexedOfTenant` makes of a text that is too long. */
const digestForm = /^"[0-9a-f]{64}$/;

/**
 * Returns the id of an execution that another one names: a child that it starts, or the receiver of its signal. If the one that names it has
 * an id of its tenant, so has the other, whatever name is written; no execution reaches the ids of another tenant.
 */
export function idBeside({ workflowId, tenant }: { readonly workflowId: string; readonly tenant: string | undefined }, id: string): string {
  const isOwn = tenant !== undefined && (isOfTenant(tenant, workflowId) || digestForm.test(workflowId));
  return isOwn || id.startsWith('"') ? indexedOfTenant(tenant, id) : id;
}

/** Returns the same as `idBeside` for an id that exists, which may be one that was shortened. */
export function knownIdBeside(namer: Parameters<typeof idBeside>[0], id: string): string {
  return digestForm.test(id) ? id : idBeside(namer, id);
}
