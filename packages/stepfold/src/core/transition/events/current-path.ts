import type {
  AnswerRefusedEvent,
  CompletedEvent,
  ContinuedEvent,
  FailedEvent,
  SpawnedEvent,
  SuspendedEvent,
} from "../../snapshot/event.ts";
import type { Wait } from "../../snapshot/parts/wait.ts";
import { askedPath } from "../code/code-path.ts";
import type { ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";

export function countAttempt(
  scope: ScopeDraft,
  event: CompletedEvent | ContinuedEvent | FailedEvent | SuspendedEvent | AnswerRefusedEvent | SpawnedEvent,
): DraftPath | null {
  const path = pathWith(scope, event.pathId) ?? askedPath(scope, event);
  if (!path || path.turn !== event.turn || path.status === "suspended" || path.status === "joining") return null;
  const { root } = scope;
  root.steps++;
  root.lastStartedAt = event.startedAt;
  root.totalExecutionTime = (root.totalExecutionTime ?? 0) + Math.max(0, event.at - event.startedAt);
  return path;
}

export function waiting(scope: ScopeDraft, pathId: string, waitId: string): { path: DraftPath; wait: Wait } | null {
  const path = pathWith(scope, pathId);
  const wait = path?.waits?.find(({ id }) => id === waitId);
  return path && wait ? { path, wait } : null;
}

export function pathWith({ paths }: ScopeDraft, pathId: string): DraftPath | undefined {
  for (const path of paths) if (path.id === pathId) return path;
  return undefined;
}
