import { useMemo } from "react";
import { withSearch } from "../../app/location-model.ts";
import { useStudio } from "../../app/studio-context.ts";
import { useSearchParams } from "../../app/use-location.ts";

/** The tabs of the page. */
export const pageTabs = ["graph", "timeline", "events", "context", "json"] as const;
export type PageTab = (typeof pageTabs)[number];

/** What of the page is in its address. */
export interface PageAddress {
  readonly tab: PageTab;
  /** The node that was chosen; empty: none is to be shown. Null: nothing was chosen. */
  readonly node: string | null;
  readonly setTab: (tab: PageTab) => void;
  readonly setNode: (nodeId: string | null) => void;
  /** Null: the present. */
  readonly setVersion: (version: number | null) => void;
  /** Looks at an event, and at the node that it is about; null: the node stays. */
  readonly setEvent: (version: number, nodeId: string | null) => void;
}

/** Reads and changes the address of the page: what is shown can be sent as a link. */
export function usePageAddress(): PageAddress {
  const { navigate, location } = useStudio();
  const params = useSearchParams();
  const tab = pageTabs.find((one) => one === params.get("tab")) ?? "graph";
  const node = params.get("node");
  const setters = useMemo(() => {
    const set = (changes: Readonly<Record<string, string | null>>): void => {
      navigate(withSearch(location.getSearch(), changes) || location.getPath(), { replace: true });
    };
    return {
      setTab: (chosen: PageTab) => set({ tab: chosen === "graph" ? null : chosen }),
      setNode: (nodeId: string | null) => set({ node: nodeId ?? "" }),
      setEvent: (version: number, nodeId: string | null) => set({ v: String(version), ...(nodeId !== null && { node: nodeId }) }),
      setVersion: (version: number | null) => set({ v: version === null ? null : String(version) }),
    };
  }, [navigate, location]);
  return { tab, node, ...setters };
}
