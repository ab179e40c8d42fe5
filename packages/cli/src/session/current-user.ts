import { userInfo } from "node:os";

/** The name of whoever sits at this terminal, as the system knows it. */
export function person(): string {
  try {
    return userInfo().username || "NAME";
  } catch {
    // a container may run under a number that has no name
    return "NAME";
  }
}
