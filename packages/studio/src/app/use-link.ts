import { useEffect } from "react";
import type { LinkState } from "./link-model.ts";
import { useStudio } from "./studio-context.ts";

/** Tells the shell of the connection of this page: it shows "live", or a banner. Null: there is none, for example because nothing changes. */
export function useLink(state: LinkState | null): void {
  const { link } = useStudio();
  useEffect(() => link.set(state), [link, state]);
  useEffect(() => () => link.set(null), [link]);
}
