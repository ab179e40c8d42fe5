import type { ReactNode } from "react";
import type { ShownStatus } from "../../ui/status/shown-status.ts";
import { useNow } from "../../ui/text/now.tsx";
import { countdownText, durationText } from "../../ui/text/time-text.ts";
import type { CardFact } from "./card.ts";

/** What stands at the right of a state: a text, and a time that runs. */
export function CardFactText({ fact, status }: { readonly fact: CardFact; readonly status: ShownStatus }): ReactNode {
  if (fact.until === null && fact.since === null) return fact.text;
  return <RunningFact fact={fact} status={status} />;
}

function RunningFact({ fact: { text, until, since }, status }: { readonly fact: CardFact; readonly status: ShownStatus }): ReactNode {
  const now = useNow();
  if (until === null)
    return (
      <>
        {text === "" ? "" : `${text}, `}
        <b>{durationText(Math.max(0, Math.floor((now - (since ?? now)) / 1_000) * 1_000))}</b>
      </>
    );
  if (status === "retrying")
    return (
      <>
        {text} in <b>{countdownText(until - now)}</b>
      </>
    );
  return (
    <>
      <b>{countdownText(until - now)}</b> left
    </>
  );
}
