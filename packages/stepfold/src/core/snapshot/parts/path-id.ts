import { hash32 } from "../../values/hash/seeded.ts";

const maxIdLength = 32;

/**
 * Returns the id of the next path that forks off `parent`: `0.1`, `0.2`. An id of more than 32 characters becomes `~` and a hash, and is
 * hashed again while an open path has this id.
 *
 * @param forks the number of the fork, from 1
 */
export function forkId(parent: string, forks: number, isOpen: (id: string) => boolean): string {
  let id = `${parent}.${forks}`;
  if (id.length <= maxIdLength) return id;
  do id = `~${hash32(id).toString(36)}${hash32(`${id}/`).toString(36)}`;
  while (isOpen(id));
  return id;
}

/** Compares two paths by seniority: the shorter id first, then by code units. */
export function comparePathIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
