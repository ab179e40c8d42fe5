import type { ActivePath } from "../../snapshot/snapshot.ts";

/** What is read of a path; drafts have it too. */
type Retried = Pick<ActivePath, "status"> & { readonly nextRetryAt?: ActivePath["nextRetryAt"] | undefined };

/** The retry that comes first, by path; null if none is pending. */
export function earliestRetry<P extends Retried>(paths: readonly P[]): P | null {
  let first: P | null = null;
  for (const path of paths) {
    if (path.status === "retrying" && (first === null || (path.nextRetryAt ?? 0) < (first.nextRetryAt ?? 0))) first = path;
  }
  return first;
}
