import { hash32 } from "../values/seeded.ts";

const maxIdLength = 32;

/**
 * Id of the next path that forks off `parent`: `0.1`, `0.2`. Above 32 characters it is `~` and a hash; hashed again
 * while it is one of the `open` ids.
 */
export function forkId(parent: string, forks: number, isOpen: (id: string) => boolean): string {
  let id = `${parent}.${forks}`;
  if (id.length <= maxIdLength) return id;
  do id = `~${hash32(id).toString(36)}${hash32(`${id}/`).toString(36)}`;
  while (isOpen(id));
  return id;
}

/** Seniority: the shorter id, then code units. */
export function comparePathIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
