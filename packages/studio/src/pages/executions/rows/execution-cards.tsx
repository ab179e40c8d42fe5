import { memo, type ReactNode } from "react";
import { executionPath } from "../../../app/route.ts";
import type { RowWindow } from "../../../model/row-window.ts";
import { classNames } from "../../../ui/class-names.ts";
import { shownStatus, statusWord } from "../../../ui/status/shown-status.ts";
import { StatusGlyph } from "../../../ui/status/status-glyph.tsx";
import { Identifier } from "../../../ui/text/identifier.tsx";
import { Age } from "../../../ui/text/time.tsx";
import type { ListRow } from "../list/list-state.ts";
import styles from "./execution-cards.module.css";
import { Reason } from "./row-cells.tsx";

/** The height of a card, in pixels. */
export const cardPx = 60;

/** Executions as cards of two lines, for narrow screens. Only those of the window are rendered. */
export function ExecutionCards({ rows, window }: { readonly rows: readonly ListRow[]; readonly window: RowWindow }): ReactNode {
  return (
    <ul aria-label="Executions" className={styles.list} style={{ height: rows.length * cardPx }}>
      {rows.slice(window.first, window.end).map((listed, offset) => (
        <Card key={listed.row.workflowId} listed={listed} index={window.first + offset} count={rows.length} />
      ))}
    </ul>
  );
}

const Card = memo(function Card(props: { readonly listed: ListRow; readonly index: number; readonly count: number }): ReactNode {
  const { listed, index, count } = props;
  const { row, isMatch } = listed;
  const status = shownStatus(row.status);
  return (
    <li
      aria-posinset={index + 1}
      aria-setsize={count}
      className={classNames(styles.card, !isMatch && styles.isDimmed)}
      style={{ top: index * cardPx }}
    >
      <div className={styles.first}>
        <StatusGlyph status={status} />
        <a href={executionPath(row.workflowId)} data-row={index} data-tip-through="" className={styles.id}>
          <Identifier id={row.workflowId} />
        </a>
        <span className={styles.word}>{statusWord(status)}</span>
        <span className={styles.age}>
          <Age since={row.updatedAt} />
        </span>
      </div>
      <div className={styles.second}>
        <Reason listed={listed} />
      </div>
    </li>
  );
});
