import { useEffect } from "react";

/** Names the tab of the browser: "order-1001 · Stepfold Studio". */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Stepfold Studio`;
  }, [title]);
}
