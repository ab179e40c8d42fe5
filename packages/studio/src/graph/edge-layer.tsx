import { ViewportPortal } from "@xyflow/react";
import { memo, type NamedExoticComponent, type ReactNode } from "react";
import { classNames } from "../ui/class-names.ts";
import { countText } from "../ui/text/number-text.ts";
import styles from "./edge-layer.module.css";
import type { DrawnEdge } from "./shape/drawn-edges.ts";

/** In the order in which they are drawn: what was gone through lies above what was not. */
const states: readonly DrawnEdge["state"][] = ["pending", "off", "taken", "error", "running"];

interface EdgeLayerProps {
  readonly edges: readonly DrawnEdge[];
  /** So small that heads and counts could not be seen. */
  readonly isFar: boolean;
}

/** All edges of the graph, under the cards: those of one state are one line, however many there are. The list twin tells them in words. */
export const EdgeLayer: NamedExoticComponent<EdgeLayerProps> = memo(function EdgeLayer({ edges, isFar }: EdgeLayerProps): ReactNode {
  return (
    <ViewportPortal>
      <svg className={classNames(styles.layer, isFar && styles.isFar)} aria-hidden="true">
        {states.map((state) => (
          <EdgeLines key={state} state={state} edges={edges.filter((edge) => edge.state === state)} isFar={isFar} />
        ))}
      </svg>
      {!isFar &&
        edges.map(
          ({ key, count, middle }) =>
            count > 1 && (
              <span key={key} className={styles.count} style={{ left: middle.x, top: middle.y }}>
                ×{countText(count)}
              </span>
            ),
        )}
    </ViewportPortal>
  );
});

interface EdgeLinesProps extends EdgeLayerProps {
  readonly state: DrawnEdge["state"];
}

function EdgeLines({ state, edges, isFar }: EdgeLinesProps): ReactNode {
  if (edges.length === 0) return null;
  const lines = edges.map(({ line }) => line).join("");
  return (
    <>
      <path className={styles.line} data-state={state} d={lines} />
      {state === "running" && !isFar && <path className={styles.flow} d={lines} />}
      {!isFar && <path className={styles.head} data-state={state} d={edges.map(({ head }) => head).join("")} />}
    </>
  );
}
