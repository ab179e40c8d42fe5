import type { ReactNode } from "react";
import type { ItemProgress } from "../../model/replay/node-status.ts";
import type { ShownStatus } from "../../ui/status/shown-status.ts";
import { countText } from "../../ui/text/number-text.ts";
import styles from "./meter.module.css";

/** How far the items of a map are, as a bar. */
export function Meter({ items }: { readonly items: ItemProgress }): ReactNode {
  const { total, done, failed, cancelled, underWay, waiting } = items;
  const parts: readonly (readonly [ShownStatus, number])[] = [
    ["completed", done],
    ["failed", failed],
    ["cancelled", cancelled],
    ["active", underWay ?? 0],
    ["paused", waiting ?? 0],
  ];
  const label = parts.filter(([, count]) => count > 0).map(([status, count]) => `${countText(count)} ${status}`);
  return (
    <span className={styles.meter} role="img" aria-label={`${label.join(", ")} of ${countText(total)} items`}>
      {parts.map(
        ([status, count]) =>
          count > 0 && (
            <span key={status} className={styles.part} data-status={status} style={{ width: `${(100 * count) / Math.max(1, total)}%` }} />
          ),
      )}
    </span>
  );
}
