import { type ReactNode, useSyncExternalStore } from "react";
import layout from "../layout.module.css";
import type { Announcer } from "./announcer.ts";

/** The one place of the page that screen readers are told changes by. */
export function LiveRegion({ announcer }: { readonly announcer: Announcer }): ReactNode {
  const sentence = useSyncExternalStore(announcer.subscribe, announcer.getSentence);
  return (
    <div role="status" aria-live="polite" className={layout.hidden}>
      {sentence}
    </div>
  );
}
