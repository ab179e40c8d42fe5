import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import type { ShownStatus } from "../status/shown-status.ts";
import styles from "./badge.module.css";

/** A short fact in a small box: `×3`, `1 of 2`, `#9f2c`. With a status it has the tint of this status. */
export function Badge({
  children,
  status,
  isMono = false,
  tip,
}: {
  readonly children: ReactNode;
  readonly status?: ShownStatus | undefined;
  readonly isMono?: boolean | undefined;
  /** A tooltip. */
  readonly tip?: string | undefined;
}): ReactNode {
  return (
    <span className={classNames(styles.badge, status && styles.tinted, isMono && styles.mono)} data-status={status} data-tip={tip}>
      {children}
    </span>
  );
}

/** A key of the keyboard. */
export function Key({ children }: { readonly children: string }): ReactNode {
  return <kbd className={styles.key}>{children}</kbd>;
}
