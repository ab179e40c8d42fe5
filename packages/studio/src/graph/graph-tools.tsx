import type { ReactNode } from "react";
import { classNames } from "../ui/class-names.ts";
import { Button } from "../ui/controls/button.tsx";
import layout from "../ui/layout.module.css";
import styles from "./graph-tools.module.css";

/** The zoom of the graph, and its list twin. */
export function GraphTools(props: {
  /** Null: the list is shown, which has no zoom. */
  readonly zoom: number | null;
  readonly onZoom: (factor: number) => void;
  readonly onFit: () => void;
  readonly isList: boolean;
  readonly onList: (isList: boolean) => void;
}): ReactNode {
  const { zoom, onZoom, onFit, isList, onList } = props;
  return (
    <div className={classNames(styles.tools, isList && styles.isBar)}>
      {zoom !== null && (
        <>
          <Button kind="ghost" isSmall icon="minus" label="Zoom out" onClick={() => onZoom(1 / 1.25)} />
          <span className={styles.zoom}>{Math.round(100 * zoom)} %</span>
          <Button kind="ghost" isSmall icon="plus" label="Zoom in" onClick={() => onZoom(1.25)} />
          <Button kind="ghost" isSmall icon="maximize" label="Fit" onClick={onFit} />
          <span className={layout.separator} />
        </>
      )}
      <Button kind="ghost" isSmall icon={isList ? "workflow" : "list"} aria-pressed={isList} onClick={() => onList(!isList)}>
        {isList ? "Graph" : "Outline"}
      </Button>
    </div>
  );
}
