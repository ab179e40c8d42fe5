const nested = ">";

/** Key of the scope that a child, a path or a wait belongs to: `0#1/3` of `0#1/3>0@2`; empty for the execution itself. */
export function parentKey(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(nested)));
}

/** The part of a key that tells it from others of its scope: `0@2` of `0#1/3>0@2`. */
export function localKey(key: string): string {
  return key.slice(key.lastIndexOf(nested) + 1);
}

/** Key of a child, or name of a path or wait, in a scope. */
export function scopedKey(scope: string, local: string): string {
  return scope === "" ? local : `${scope}${nested}${local}`;
}

/** Key of one child of a path: of a sub-workflow the path's own key, of an item that and its index. */
export function childKey(scope: string, group: string, item: number | null): string {
  return scopedKey(scope, item === null ? group : `${group}/${item}`);
}

/** Index of the item that a child's key names; null if it names a sub-workflow. */
export function itemOf(key: string): number | null {
  const local = localKey(key);
  const slash = local.indexOf("/");
  return slash < 0 ? null : Number(local.slice(slash + 1));
}

/** Key of the path that a child belongs to, in its scope. */
export function groupOf(key: string): string {
  const local = localKey(key);
  const slash = local.indexOf("/");
  return slash < 0 ? local : local.slice(0, slash);
}

/** True if a child is one of a group's, or inside one. */
export function belongsTo(key: string, group: string): boolean {
  if (!key.startsWith(group)) return false;
  const next = key[group.length];
  return next === undefined || next === "/" || next === nested;
}

/** How many scopes lie around what a key names. */
export function depthOf(key: string): number {
  return key === "" ? 0 : key.split(nested).length;
}
