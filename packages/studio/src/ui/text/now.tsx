import { createContext, type ReactNode, use, useSyncExternalStore } from "react";
import { Ticker } from "./ticker.ts";

/** The clock of the page. */
export const ticker: Ticker = new Ticker();

const StillContext = createContext<number | null>(null);

/** Lets the time stand still for everything inside it: in the past countdowns show what was left then. Null: time goes on. */
export function StillTime({ at, children }: { readonly at: number | null; readonly children: ReactNode }): ReactNode {
  return <StillContext value={at}>{children}</StillContext>;
}

/** Returns the time of the server's clock, in milliseconds since 1970, anew every second; inside `StillTime` the time that stands there. */
export function useNow(): number {
  const still = use(StillContext);
  const now = useSyncExternalStore(still === null ? ticker.subscribe : subscribeToNothing, ticker.getNow);
  return still ?? now;
}

function subscribeToNothing(): () => void {
  return () => undefined;
}
