import { userInfo } from "node:os";

/** The name of the current user, as the system knows it; the word `NAME` if it knows none. */
export function currentUser(): string {
  try {
    return userInfo().username || "NAME";
  } catch {
    // a container may run under a user id that has no name
    return "NAME";
  }
}
