import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { Button } from "../ui/controls/button.tsx";
import { Notice } from "../ui/feedback/notice.tsx";
import { useNow } from "../ui/text/now.tsx";
import { ClockTime } from "../ui/text/time.tsx";
import type { LinkState } from "./link-model.ts";
import { useStudio } from "./studio-context.ts";

const briefMs = 2_000;

/** Says that no news come, since when, and when the next try begins. What is shown stays. */
export function OfflineBanner(): ReactNode {
  const { link } = useStudio();
  const state = useSyncExternalStore(link.subscribe, link.getState);
  const isOffline = state !== null && !state.isLive && state.againAt !== null;
  const isLong = useLasting(isOffline);
  return isLong && state && state.againAt !== null ? <Banner state={state} againAt={state.againAt} /> : null;
}

/** A connection that is renewed at once, as servers do from time to time, is no news. */
function useLasting(isOffline: boolean): boolean {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (!isOffline) return setLong(false);
    const timer = setTimeout(() => setLong(true), briefMs);
    return () => clearTimeout(timer);
  }, [isOffline]);
  return isOffline && isLong;
}

function Banner({ state, againAt }: { readonly state: LinkState; readonly againAt: number }): ReactNode {
  const now = useNow();
  const seconds = Math.ceil((againAt - now) / 1_000);
  const tryNow = (
    <Button isSmall onClick={state.tryNow}>
      Try now
    </Button>
  );
  return (
    <Notice status="retrying" icon="cloud-off" actions={tryNow}>
      <b>Offline.</b> {state.lastNewsAt === null ? "No news yet" : "Last news "}
      {state.lastNewsAt !== null && <ClockTime at={state.lastNewsAt} />}, again {seconds > 0 ? `in ${seconds} s` : "now"}. What is shown
      stays; no action is queued.
    </Notice>
  );
}
