import type { CSSProperties, ReactNode } from "react";
import styles from "./skeleton.module.css";

/** A grey bar where a text will be. It appears 150 ms after it was rendered, so that what loads fast does not flicker. */
export function Skeleton({ width, height = 10 }: { readonly width: number | string; readonly height?: number }): ReactNode {
  const size: CSSProperties = { width, height };
  return <span className={styles.bar} style={size} aria-hidden="true" />;
}
