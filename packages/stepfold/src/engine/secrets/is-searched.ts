import { isPlain } from "../../expressions/evaluation/read-member.ts";

/** Whether the members of an object are searched for secrets. Functions and objects of classes are services, which keep theirs to themselves. */
export function isSearched(value: object): boolean {
  return Array.isArray(value) || isPlain(value);
}
