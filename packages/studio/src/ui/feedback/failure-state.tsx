import type { ReactNode } from "react";
import type { ApiScope, MeView } from "stepfold/client";
import { Button } from "../controls/button.tsx";
import { CopyButton } from "../controls/copy-button.tsx";
import layout from "../layout.module.css";
import { ClockTime } from "../text/time.tsx";
import { EmptyState } from "./empty-state.tsx";
import { type Failure, failureText } from "./failure.ts";

/** What could not be loaded, why, and how to try again. Without a right the scope that is missing is named instead. */
export function FailureState(props: {
  readonly failure: Failure;
  /** The fact, such as "The list could not be loaded". */
  readonly title: string;
  readonly onRetry: () => void;
  /** The scope that this needs, and the caller. */
  readonly needs: ApiScope;
  readonly me: Pick<MeView, "id" | "scopes"> | null;
  /** Other ways out. */
  readonly actions?: ReactNode;
}): ReactNode {
  const { failure, title, onRetry, needs, me, actions } = props;
  if (failure.code === "FORBIDDEN" && me && !me.scopes.includes(needs)) return <MissingScope scope={needs} callerId={me.id} />;
  return (
    <EmptyState
      icon="circle-alert"
      status="failed"
      title={title}
      actions={
        <>
          <Button icon="refresh-cw" onClick={onRetry}>
            Try again
          </Button>
          {actions}
          <CopyButton text={failureText(failure)} word="Copy details" />
        </>
      }
    >
      <b>{failure.code}</b>: {failure.message}
      <br />
      <span className={layout.faint}>
        {failure.requestId && `request ${failure.requestId}, `}
        <ClockTime at={failure.at} />
      </span>
    </EmptyState>
  );
}

function MissingScope({ scope, callerId }: { readonly scope: ApiScope; readonly callerId: string }): ReactNode {
  return (
    <EmptyState
      icon="lock"
      title="You may not see this"
      actions={<CopyButton kind="outlined" text={`Please give ${callerId} the scope "${scope}".`} word="Copy what to ask for" />}
    >
      The token of <b>{callerId}</b> lacks the scope <code>{scope}</code>, which this needs.
    </EmptyState>
  );
}
