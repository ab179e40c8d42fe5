import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { ExecutionView } from "stepfold/client";
import type { LinkState } from "../../app/link-model.ts";
import { useStudio } from "../../app/studio-context.ts";
import { useLink } from "../../app/use-link.ts";
import { ExecutionModel } from "../../model/execution-model.ts";
import { followExecution } from "../../model/follow-execution.ts";
import { LeaseLooks } from "../../model/lease-looks.ts";
import { ReplayClient } from "../../model/replay/replay-client.ts";
import { replayWorkerPort } from "../../model/replay/replay-worker-port.ts";
import { ticker } from "../../ui/text/now.tsx";

/** A page that nobody sees is not followed any more after this time. */
const hiddenMs = 10_000;

/** What is known of an execution, kept up to date as long as the page is seen. */
export interface FollowedExecution {
  readonly model: ExecutionModel;
  /** Rises whenever something has changed. */
  readonly revision: number;
  /** Begins anew after an error. */
  readonly retry: () => void;
}

/** Follows an execution. The thread that folds its events lives as long as the component. */
export function useExecution(workflowId: string): FollowedExecution {
  const { client } = useStudio();
  const [model, setModel] = useState<ExecutionModel | null>(null);
  const [attempt, setAttempt] = useState(0);
  const position = useRef<string | undefined>(undefined);
  const isSeen = useIsSeen();

  const fallback = useMemo(() => idleModel(workflowId), [workflowId]);
  useEffect(() => {
    const replay = new ReplayClient(replayWorkerPort());
    position.current = undefined;
    setModel(newModel(workflowId, replay));
    return () => replay.close();
  }, [workflowId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt begins anew
  useEffect(() => {
    if (!model || !isSeen) return;
    const stop = new AbortController();
    model.fail(null);
    void followExecution(client, model, stop.signal, position.current, (reached) => {
      position.current = reached;
    });
    new LeaseLooks(client, model, stop.signal, ticker.read);
    return () => stop.abort();
  }, [client, model, isSeen, attempt]);

  const shown = model ?? fallback;
  const revision = useSyncExternalStore(shown.subscribe, shown.revision);
  const retry = useCallback(() => setAttempt((count) => count + 1), []);
  useLink(useLinkState(shown, revision, retry));
  return { model: shown, revision, retry };
}

function newModel(workflowId: string, replay: ReplayClient): ExecutionModel {
  let head: ExecutionView | null = null;
  // the clock of the page has the time of the news when they are drawn
  const schedule = (callback: () => void): number =>
    requestAnimationFrame(() => {
      if (model.head === null || model.head === head) ticker.refresh();
      else ticker.synchronize(model.head.storeNow);
      ({ head } = model);
      callback();
    });
  const model = new ExecutionModel(workflowId, { replay, now: ticker.read, schedule });
  return model;
}

/** The model before the first effect: it knows nothing. */
function idleModel(workflowId: string): ExecutionModel {
  const replay = new ReplayClient({ post: () => undefined, onAnswer: null, close: () => undefined });
  return new ExecutionModel(workflowId, { replay, now: ticker.read, schedule: () => undefined });
}

function useLinkState(model: ExecutionModel, revision: number, tryNow: () => void): LinkState | null {
  const { link, isGone, error } = model;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the link changes with the revision
  return useMemo(() => {
    if (isGone || error) return null;
    return { isLive: link.isLive, lastNewsAt: link.newsAt, againAt: link.againAt, tryNow };
  }, [link.isLive, link.againAt, link.isLive ? null : revision, isGone, error, tryNow]);
}

/** False from ten seconds after the page was hidden until it is seen again. */
function useIsSeen(): boolean {
  const [isSeen, setIsSeen] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") setIsSeen(true);
      else timer = setTimeout(() => setIsSeen(false), hiddenMs);
    };
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      clearTimeout(timer);
    };
  }, []);
  return isSeen;
}
