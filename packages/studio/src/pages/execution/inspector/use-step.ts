import { useEffect, useState } from "react";
import type { StepView } from "stepfold/client";
import { useStudio } from "../../../app/studio-context.ts";
import { type Failure, failureOf } from "../../../ui/feedback/failure.ts";
import { ticker } from "../../../ui/text/now.tsx";

/** What the server says of an attempt, or why it does not. */
export interface AskedStep {
  /** Null: not yet. */
  readonly step: StepView | null;
  readonly failure: Failure | null;
  readonly retry: () => void;
}

/** Asks the server for the event of a version and for what its step had read. @param version null: nothing is asked */
export function useStep(workflowId: string, version: number | null): AskedStep {
  const { client } = useStudio();
  const [known, setKnown] = useState<{ readonly version: number; readonly step: StepView | null; readonly failure: Failure | null } | null>(
    null,
  );
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt asks anew
  useEffect(() => {
    if (version === null) return;
    const stop = new AbortController();
    client.executions.step(workflowId, version, { signal: stop.signal }).then(
      (step) => setKnown({ version, step, failure: null }),
      (thrown: unknown) => {
        if (!stop.signal.aborted) setKnown({ version, step: null, failure: failureOf(thrown, ticker.read()) });
      },
    );
    return () => stop.abort();
  }, [client, workflowId, version, attempt]);
  const own = known?.version === version ? known : null;
  return { step: own?.step ?? null, failure: own?.failure ?? null, retry: () => setAttempt((count) => count + 1) };
}
