import { idOfPath } from "stepfold/client";
import { RefusedRequest } from "../guard/problem.ts";

/**
 * Refuses paths that servers and proxies read differently: with `%`, empty parts, and parts of dots. Ids that would need them travel as `~`
 * and base64url, so no good path has them.
 *
 * @throws RefusedRequest `REQUEST_INVALID`
 */
export function checkPath(path: string): void {
  if (/%|\\|\/\/|\/\.{1,2}(?:\/|$)/.test(path))
    throw new RefusedRequest(
      "REQUEST_INVALID",
      "The path has a %, an empty part or a part of dots. Ids with such characters are sent as ~ and base64url.",
    );
}

/** Returns the id of an execution in a path. @throws RefusedRequest `REQUEST_INVALID` */
export function executionIdOf(part: string): string {
  const id = idOfPath(part);
  if (id === null || id === "")
    throw new RefusedRequest("REQUEST_INVALID", "The id in the path is not one: it must be plain, or ~ and base64url of UTF-8.");
  return id;
}
