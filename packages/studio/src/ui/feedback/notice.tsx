import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icons/icon.tsx";
import type { ShownStatus } from "../status/shown-status.ts";
import { StatusGlyph } from "../status/status-glyph.tsx";
import styles from "./notice.module.css";

/** One sentence about the whole page (under the bar), or about a part of it (in a box), with at most two actions at its right. */
export function Notice(props: {
  /** Its tint: `retrying` for offline, `cancelled` for the past, `failed` for a failure. */
  readonly status: ShownStatus;
  readonly icon?: IconName | undefined;
  readonly isBoxed?: boolean | undefined;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
}): ReactNode {
  const { status, icon, isBoxed, children, actions } = props;
  return (
    <div className={classNames(styles.notice, isBoxed && styles.isBoxed)} data-status={status}>
      {icon ? (
        <span className={styles.icon}>
          <Icon name={icon} />
        </span>
      ) : (
        <StatusGlyph status={status} />
      )}
      <span className={styles.sentence}>{children}</span>
      {actions}
    </div>
  );
}
