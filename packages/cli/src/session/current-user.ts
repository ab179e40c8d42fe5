import { userInfo } from "node:os";

/** The name of the current user, as the system knows it. */
export function currentUser(): string {
  try {
    return userInfo().username || "NAME";
  } catch {
    // a container may run under a number that has no name
    return "NAME";
  }
}
