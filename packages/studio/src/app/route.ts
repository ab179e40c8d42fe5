import { idInPath, idOfPath } from "stepfold/client";

/** What a path of the page means. */
export type PageRoute =
  | { readonly page: "executions" }
  | { readonly page: "execution"; readonly workflowId: string }
  | { readonly page: "unknown" };

/** Returns what a path means. */
export function routeOf(path: string): PageRoute {
  if (path === "/" || path === "/executions" || path === "/executions/") return { page: "executions" };
  const segment = /^\/executions\/([^/]+)$/.exec(path)?.[1];
  const workflowId = segment === undefined ? null : idOfPath(segment);
  return workflowId ? { page: "execution", workflowId } : { page: "unknown" };
}

/** Returns the path of an execution. Its id may be any text. */
export function executionPath(workflowId: string): string {
  return `/executions/${idInPath(workflowId)}`;
}
