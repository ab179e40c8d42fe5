import type { ReactNode } from "react";
import type { IconName } from "../icons/icon.tsx";
import { IconSquare } from "../icons/icon-square.tsx";
import type { ShownStatus } from "../status/shown-status.ts";
import styles from "./empty-state.module.css";

/** Nothing to show: a title that states the fact, one sentence that says what would be here and how, at most two actions. */
export function EmptyState(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
  readonly status?: ShownStatus | undefined;
}): ReactNode {
  const { icon, title, children, actions, status } = props;
  return (
    <section className={styles.state}>
      <IconSquare name={icon} status={status} />
      <h2 className={styles.title}>{title}</h2>
      <p className={styles.text}>{children}</p>
      {actions && <div className={styles.actions}>{actions}</div>}
    </section>
  );
}
