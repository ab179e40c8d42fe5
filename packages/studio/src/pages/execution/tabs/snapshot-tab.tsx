import { type ReactNode, useEffect, useMemo, useState } from "react";
import type { Snapshot } from "stepfold/core";
import { useStudio } from "../../../app/studio-context.ts";
import { jsonText } from "../../../model/value/json-tree.ts";
import { classNames } from "../../../ui/class-names.ts";
import { CopyButton } from "../../../ui/controls/copy-button.tsx";
import { type Failure, failureOf } from "../../../ui/feedback/failure.ts";
import { FailureState } from "../../../ui/feedback/failure-state.tsx";
import { Skeleton } from "../../../ui/feedback/skeleton.tsx";
import layout from "../../../ui/layout.module.css";
import { ticker } from "../../../ui/text/now.tsx";
import { useShown } from "../execution-context.ts";
import { JsonView } from "./json-view.tsx";
import styles from "./tab.module.css";

/** The state at the version that is shown: what the nodes have put out (`context`), or all of it. */
export function SnapshotTab({ isContext }: { readonly isContext: boolean }): ReactNode {
  const { version } = useShown();
  const { me } = useStudio();
  const { snapshot, failure, retry } = useSnapshot();
  const value = useMemo(() => snapshot && (isContext ? contextOf(snapshot) : snapshot), [snapshot, isContext]);
  if (failure) return <FailureState failure={failure} title="The state could not be read" needs="values" me={me} onRetry={retry} />;
  return (
    <section className={classNames(styles.tab, styles.isLow)} aria-label={isContext ? "Context" : "JSON"}>
      <div className={styles.tools}>
        <span className={classNames(layout.small, layout.grow)}>
          {isContext ? "The latest output of each node, the variables and the input" : "The snapshot: everything that the execution knows"}{" "}
          at v{version}
        </span>
        {snapshot && <CopyButton text={jsonText(value).text} word="Copy" isSmall />}
      </div>
      {value ? (
        <JsonView value={value} label={isContext ? "Latest values" : "Snapshot"} levels={isContext ? 2 : 1} isWhole />
      ) : (
        <div className={styles.loading} aria-busy="true">
          <Skeleton width="40%" />
          <Skeleton width="60%" />
          <Skeleton width="50%" />
        </div>
      )}
    </section>
  );
}

/** What expressions read: input, variables, and the latest output of each node. */
function contextOf({ input, variables, context }: Snapshot): unknown {
  const latest = Object.fromEntries(Object.entries(variables ?? {}).map(([name, values]) => [name, values.at(-1)?.value]));
  return {
    ...(input !== undefined && { input }),
    ...(Object.keys(latest).length > 0 && { variables: latest }),
    nodes: Object.fromEntries(Object.entries(context).map(([nodeId, results]) => [nodeId, results.at(-1)?.output])),
  };
}

/** The snapshot at the version that is shown: folded here if the events are whole, else asked of the server. */
function useSnapshot(): { readonly snapshot: Snapshot | null; readonly failure: Failure | null; readonly retry: () => void } {
  const { model, version, state } = useShown();
  const { client } = useStudio();
  const [known, setKnown] = useState<{
    readonly version: number;
    readonly snapshot: Snapshot | null;
    readonly failure: Failure | null;
  } | null>(null);
  const [attempt, setAttempt] = useState(0);
  const isFolded = state?.folded !== null && !model.isBrief;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt asks anew
  useEffect(() => {
    const stop = new AbortController();
    const tell = (snapshot: Snapshot | null, failure: Failure | null): void => {
      if (!stop.signal.aborted) setKnown({ version, snapshot, failure });
    };
    const ask = async (): Promise<void> => {
      try {
        const folded = isFolded ? await model.snapshot(version) : null;
        tell(folded ?? (await client.executions.snapshot(model.id, { version }, { signal: stop.signal })), null);
      } catch (thrown) {
        tell(null, failureOf(thrown, ticker.read()));
      }
    };
    if (state) void ask();
    return () => stop.abort();
  }, [client, model, version, isFolded, state === null, attempt]);
  // while the next version is folded, the one before it is shown
  return {
    snapshot: known?.snapshot ?? null,
    failure: known?.version === version ? known.failure : null,
    retry: () => setAttempt((count) => count + 1),
  };
}
