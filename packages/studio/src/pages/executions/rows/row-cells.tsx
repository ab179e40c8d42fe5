import type { ReactNode } from "react";
import { useNow } from "../../../ui/text/now.tsx";
import type { ListRow } from "../list/list-state.ts";
import { reasonOf, reasonText } from "../list/row-reason.ts";
import styles from "./row-cells.module.css";

/** Where an execution stands, and why. Its countdown runs. */
export function Reason({ listed }: { readonly listed: ListRow }): ReactNode {
  const now = useNow();
  if (listed.isGone) return <span className={styles.reason}>was deleted; this is its last state</span>;
  const parts = reasonOf(listed.row, { now, toldAt: listed.toldAt });
  return (
    <span className={styles.reason} data-tip={reasonText(parts)} data-tip-cut="">
      {parts.map(({ kind, text }) => (kind === "node" ? <b key={text}>{text}</b> : <span key={text}>{text}</span>))}
    </span>
  );
}
