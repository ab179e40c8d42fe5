import type { ReactNode } from "react";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import layout from "../../ui/layout.module.css";
import styles from "./executions-page.module.css";

/** The widths of the reasons, so that it looks like a list. */
const widths = ["62%", "48%", "71%", "55%", "40%", "66%", "52%", "58%", "45%", "69%", "50%", "61%"];

/** The shape of the list until it comes. */
export function ListSkeleton(): ReactNode {
  return (
    <div className={styles.skeleton}>
      <span className={layout.hidden}>Loading</span>
      {widths.map((width) => (
        <div key={width} className={styles.skeletonRow}>
          <Skeleton width={14} height={14} />
          <Skeleton width={64} />
          <Skeleton width={120} />
          <Skeleton width={92} />
          <span className={layout.grow}>
            <Skeleton width={width} />
          </span>
          <Skeleton width={40} />
        </div>
      ))}
    </div>
  );
}
