import type { ReactNode } from "react";
import styles from "./top-bar.module.css";

/** The mark of Stepfold: three steps. */
export function BrandMark(): ReactNode {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" className={styles.mark}>
      <path d="M2.5 16.25h5v-5h5v-5h5" />
    </svg>
  );
}
