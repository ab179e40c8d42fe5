import type { ReactNode } from "react";
import type { ShownStatus } from "./shown-status.ts";
import styles from "./status-glyph.module.css";

/** Shapes in a box of 16 x 16. Each status has a shape of its own, so that nobody needs the colour. */
const shapes: Readonly<Record<ShownStatus, ReactNode>> = {
  "not-yet": <circle cx="8" cy="8" r="5.25" className={styles.outline} />,
  "not-reached": <circle cx="8" cy="8" r="5.25" className={styles.outline} strokeDasharray="2 2.4" />,
  active: (
    <g className={styles.rotating}>
      <circle cx="8" cy="8" r="5.6" className={styles.outline} />
      <path d="M8 2.4a5.6 5.6 0 0 1 0 11.2z" className={styles.filled} />
    </g>
  ),
  paused: (
    <>
      <rect x="3.4" y="2.8" width="3.3" height="10.4" rx="1" className={styles.filled} />
      <rect x="9.3" y="2.8" width="3.3" height="10.4" rx="1" className={styles.filled} />
    </>
  ),
  retrying: <path d="M13.2 8A5.2 5.2 0 1 1 11.4 4l1.8 1.7M13.3 2.4v3.4H9.9" className={styles.outline} />,
  parked: (
    <>
      <rect x="2.6" y="2.6" width="10.8" height="10.8" rx="2" className={styles.outline} />
      <rect x="5.6" y="5.6" width="4.8" height="4.8" rx="0.8" className={styles.filled} />
    </>
  ),
  completed: <path d="m2.9 8.6 3.4 3.5 6.8-7.9" className={styles.thick} />,
  failed: <path d="m3.7 3.7 8.6 8.6m0-8.6-8.6 8.6" className={styles.thick} />,
  cancelled: (
    <>
      <circle cx="8" cy="8" r="5.6" className={styles.outline} />
      <path d="m4.2 11.8 7.6-7.6" className={styles.outline} />
    </>
  ),
};

/** The shape of a status, 14 px, in the colour of the status. The word stands beside it: see `StatusWord` and `StatusChip`. */
export function StatusGlyph({ status, isMoving = true }: { readonly status: ShownStatus; readonly isMoving?: boolean }): ReactNode {
  return (
    <svg className={styles.glyph} data-status={status} data-moving={isMoving || undefined} viewBox="0 0 16 16" aria-hidden="true">
      {shapes[status]}
    </svg>
  );
}
