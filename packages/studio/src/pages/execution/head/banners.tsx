import type { ReactNode } from "react";
import { useStudio } from "../../../app/studio-context.ts";
import { Button } from "../../../ui/controls/button.tsx";
import { failureOf } from "../../../ui/feedback/failure.ts";
import { Notice } from "../../../ui/feedback/notice.tsx";
import { ticker } from "../../../ui/text/now.tsx";
import { countText } from "../../../ui/text/number-text.ts";
import { ClockTime } from "../../../ui/text/time.tsx";
import { useShown } from "../execution-context.ts";

/** What holds for the whole page: it shows the past, nothing more is told, values may not be seen. What is shown stays. */
export function Banners({
  onVersion,
  onRetry,
}: {
  readonly onVersion: (version: number | null) => void;
  readonly onRetry: () => void;
}): ReactNode {
  const { model, version, isPast, state } = useShown();
  const { me } = useStudio();
  const failure = model.error ? failureOf(model.error, ticker.read()) : null;
  const goLive = (
    <Button isSmall onClick={() => onVersion(null)}>
      Go live
    </Button>
  );
  return (
    <>
      {model.isGone && (
        <Notice status="cancelled" icon="info">
          <b>Deleted.</b> This execution no longer exists; what is shown is its last state.
        </Notice>
      )}
      {failure && (
        <Notice
          status="failed"
          icon="circle-alert"
          actions={
            <Button isSmall onClick={onRetry}>
              Try again
            </Button>
          }
        >
          <b>{failure.code}</b>: {failure.message} What is shown stays, and is not kept up to date.
        </Notice>
      )}
      {model.problem !== null && (
        <Notice status="retrying" icon="cloud-off">
          <b>{model.problem}</b>: the server cannot read this execution at the moment. What is shown stays.
        </Notice>
      )}
      {isPast && (
        <Notice status="cancelled" icon="history" actions={goLive}>
          You look at <b>v{countText(version)}</b> of {countText(model.last)}
          {state && (
            <>
              , <ClockTime at={state.at} />
            </>
          )}
          . Nothing acts here.{state && !state.folded && " Only what the events themselves say is known of this version."}
        </Notice>
      )}
      {!me.scopes.includes("values") && !isPast && (
        <Notice status="not-yet" icon="eye-off">
          {me.id} may see states and times, but no values and messages: the scope <code>values</code> is missing.
        </Notice>
      )}
    </>
  );
}
