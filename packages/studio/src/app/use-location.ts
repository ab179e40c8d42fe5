import { useMemo, useSyncExternalStore } from "react";
import { useStudio } from "./studio-context.ts";

/** Returns the query of the address (`?tab=events`), anew whenever it changes. */
export function useSearch(): string {
  const { location } = useStudio();
  return useSyncExternalStore(location.subscribe, location.getSearch);
}

/** Returns the query of the address, anew whenever it changes. */
export function useSearchParams(): URLSearchParams {
  const search = useSearch();
  return useMemo(() => new URLSearchParams(search), [search]);
}
