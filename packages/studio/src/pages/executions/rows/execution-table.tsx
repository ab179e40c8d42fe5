// biome-ignore-all lint/a11y/useSemanticElements: rows of a virtual table are positioned, which those of <table> cannot be everywhere
// biome-ignore-all lint/a11y/useFocusableInteractive: a row is reached by its link, a header does nothing
import { type CSSProperties, memo, type ReactNode } from "react";
import { executionPath } from "../../../app/route.ts";
import type { RowWindow } from "../../../model/row-window.ts";
import { classNames } from "../../../ui/class-names.ts";
import { shownStatus } from "../../../ui/status/shown-status.ts";
import { StatusWord } from "../../../ui/status/status-word.tsx";
import { Identifier } from "../../../ui/text/identifier.tsx";
import { shortHash } from "../../../ui/text/short-identifier.ts";
import { Age, ShortTime } from "../../../ui/text/time.tsx";
import type { ListRow } from "../list/list-state.ts";
import styles from "./execution-table.module.css";
import { Reason } from "./row-cells.tsx";

/** The height of a row, in pixels. */
export const tableRowPx = 32;

/** Executions as a table. Only the rows of the window are rendered; the header stays in sight. */
export function ExecutionTable(props: {
  readonly rows: readonly ListRow[];
  readonly window: RowWindow;
  /** There are more rows that are not loaded. */
  readonly hasMore: boolean;
  /** Stands in the header: how many rows have arrived. */
  readonly arrived: ReactNode;
  readonly onCursor: (index: number) => void;
}): ReactNode {
  const { rows, window, hasMore, arrived, onCursor } = props;
  return (
    <div role="table" aria-label="Executions" aria-rowcount={hasMore ? -1 : rows.length + 1} className={styles.table}>
      <div role="rowgroup" className={styles.head}>
        <div role="row" aria-rowindex={1} className={styles.columns}>
          <span role="columnheader">Status</span>
          <span role="columnheader">Id</span>
          <span role="columnheader">Workflow</span>
          <span role="columnheader" className={styles.reasonHead}>
            Where it stands, and why
            {arrived}
          </span>
          <span role="columnheader" className={styles.time}>
            Changed
          </span>
          <span role="columnheader" className={styles.time}>
            Started
          </span>
        </div>
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: rows.length * tableRowPx }}>
        {rows.slice(window.first, window.end).map((listed, offset) => (
          <TableRow key={listed.row.workflowId} listed={listed} index={window.first + offset} onCursor={onCursor} />
        ))}
      </div>
    </div>
  );
}

const TableRow = memo(function TableRow(props: {
  readonly listed: ListRow;
  readonly index: number;
  readonly onCursor: (index: number) => void;
}): ReactNode {
  const { listed, index, onCursor } = props;
  const { row, isMatch } = listed;
  const { workflowId, definition, updatedAt, createdAt } = row;
  const style: CSSProperties = { top: index * tableRowPx };
  return (
    <div role="row" aria-rowindex={index + 2} className={classNames(styles.columns, styles.row, !isMatch && styles.isDimmed)} style={style}>
      <span role="cell">
        <StatusWord status={shownStatus(row.status)} />
      </span>
      <span role="cell" className={styles.cut}>
        <a href={executionPath(workflowId)} data-row={index} data-tip-through="" className={styles.id} onFocus={() => onCursor(index)}>
          <Identifier id={workflowId} />
        </a>
      </span>
      <span role="cell" className={styles.cut} data-tip={`${definition.id} #${definition.hash}`}>
        {definition.id} <span className={styles.hash}>{shortHash(definition.hash)}</span>
      </span>
      <span role="cell" className={styles.why}>
        <Reason listed={listed} />
        {!isMatch && <span className={styles.note}>no longer matches</span>}
      </span>
      <span role="cell" className={styles.time}>
        <Age since={updatedAt} />
      </span>
      <span role="cell" className={styles.time}>
        <ShortTime at={createdAt} />
      </span>
    </div>
  );
});
