import type { ReactNode } from "react";
import type { ShownStatus } from "../status/shown-status.ts";
import { Icon, type IconName } from "./icon.tsx";
import styles from "./icon-square.module.css";

/** What kind of node it is: its icon has this tint where there is no state. */
export type NodeFamily = "flow" | "people" | "http" | "data" | "yours";

/** An icon in a tinted square of 30 px: of a node, or of an empty state. With a status it has the tint of this status. */
export function IconSquare({
  name,
  status,
  family = "flow",
}: {
  readonly name: IconName;
  readonly status?: ShownStatus | undefined;
  readonly family?: NodeFamily | undefined;
}): ReactNode {
  return (
    <span className={styles.square} data-status={status} data-family={status ? undefined : family}>
      <Icon name={name} isLarge />
    </span>
  );
}
