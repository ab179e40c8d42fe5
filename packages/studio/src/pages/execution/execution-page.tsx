import { type ReactNode, useState } from "react";
import { useStudio } from "../../app/studio-context.ts";
import { useTitle } from "../../app/use-title.ts";
import { FormDrafts } from "../../form/form-drafts.ts";
import { Button } from "../../ui/controls/button.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { failureOf } from "../../ui/feedback/failure.ts";
import { FailureState } from "../../ui/feedback/failure-state.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import layout from "../../ui/layout.module.css";
import { ticker } from "../../ui/text/now.tsx";
import { shortIdentifier } from "../../ui/text/short-identifier.ts";
import styles from "./execution-page.module.css";
import { ExecutionScreen } from "./execution-screen.tsx";
import { useExecution } from "./use-execution.ts";
import { useShownExecution } from "./use-shown.ts";
import { useTypeHandles } from "./use-type-handles.ts";

/** The page of one execution: where it stands, why, who can move it; and everything that happened before. */
export function ExecutionPage({ workflowId }: { readonly workflowId: string }): ReactNode {
  const followed = useExecution(workflowId);
  const [drafts] = useState(() => new FormDrafts());
  const shown = useShownExecution(followed, drafts, useTypeHandles());
  const { me, navigate } = useStudio();
  const { model, retry } = followed;
  useTitle(shortIdentifier(workflowId));
  if (model.head && (model.events.length > 0 || !model.error)) return <ExecutionScreen shown={shown} onRetry={retry} />;
  const failure = model.error ? failureOf(model.error, ticker.read()) : null;
  if (failure?.code === "WORKFLOW_NOT_FOUND" || model.isGone)
    return (
      <div className={styles.page}>
        <h1 className={layout.hidden}>{workflowId}</h1>
        <EmptyState
          icon="search"
          title="There is no such execution"
          actions={<Button onClick={() => navigate("/executions")}>Executions</Button>}
        >
          <b>{shortIdentifier(workflowId)}</b> does not exist. It may have been deleted, or the address is mistyped.
        </EmptyState>
      </div>
    );
  return (
    <div className={styles.page} aria-busy={!failure}>
      <h1 className={layout.hidden}>{workflowId}</h1>
      {failure ? (
        <FailureState failure={failure} title="The execution could not be loaded" needs="read" me={me} onRetry={retry} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

/** In the shape of what comes. */
function Loading(): ReactNode {
  return (
    <>
      <div className={styles.skeletonHead}>
        <Skeleton width={140} height={14} />
        <Skeleton width={70} height={14} />
        <Skeleton width={110} />
      </div>
      <div className={styles.skeletonBody}>
        <Skeleton width="45%" />
        <Skeleton width="30%" />
        <Skeleton width="60%" height={160} />
      </div>
    </>
  );
}
