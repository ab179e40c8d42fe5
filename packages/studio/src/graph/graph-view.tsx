import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { GraphLayout } from "../model/layout/graph-layout.ts";
import { layoutFor } from "../model/layout/layout-client.ts";
import type { ExecutionState } from "../model/replay/execution-state.ts";
import type { Card, Running } from "./card/card.ts";
import { cardsOf, type Graph, layoutRequest } from "./graph.ts";
import { GraphCanvas } from "./graph-canvas.tsx";
import styles from "./graph-view.module.css";
import { NodeTable } from "./node-table.tsx";
import { drawnEdges } from "./shape/drawn-edges.ts";
import type { PaneSize } from "./shape/viewport.ts";

const noCards: ReadonlyMap<string, Card> = new Map();
const nowhere: GraphLayout = { places: new Map(), routes: [] };

/** The workflow with what its execution does: as a picture, or as a list with the same facts. */
export function GraphView(props: {
  readonly graph: Graph;
  readonly state: ExecutionState | null;
  readonly runningAt: (nodeId: string) => Running;
  readonly selected: string | null;
  /** The node where it stands. */
  readonly stands: string | null;
  readonly onSelect: (id: string) => void;
}): ReactNode {
  const { graph, state, runningAt, selected, stands, onSelect } = props;
  const layout = useGraphLayout(graph);
  const [isList, setIsList] = useState(false);
  const kept = useRef(noCards);
  const cards = useMemo(() => cardsOf(graph, state, runningAt, kept.current), [graph, state, runningAt]);
  kept.current = cards;
  const edges = useMemo(
    () => drawnEdges(graph.definition, typeof layout === "object" && layout ? layout : nowhere, cards, state),
    [graph, layout, cards, state],
  );
  const [paneRef, pane] = usePane();
  if (isList || layout === "failed") {
    const told = tableEdges(graph, state);
    return <NodeTable cards={cards} edges={told} selected={selected} onSelect={onSelect} onList={layout === "failed" ? null : setIsList} />;
  }
  return (
    <div ref={paneRef} className={styles.pane} aria-busy={!layout}>
      {layout && pane && (
        <GraphCanvas key={graph.hash} {...{ graph, layout, cards, edges, selected, stands, onSelect, pane }} onList={setIsList} />
      )}
    </div>
  );
}

function tableEdges(
  { definition }: Graph,
  state: ExecutionState | null,
): { source: string; target: string; handle: string; count: number }[] {
  return definition.edges.map(({ source, target, sourceHandle }) => {
    const handle = sourceHandle ?? "";
    return { source, target, handle, count: state?.nodes.get(source)?.handles.get(handle) ?? 0 };
  });
}

function useGraphLayout(graph: Graph): GraphLayout | "failed" | null {
  const [known, setKnown] = useState<{ readonly hash: string; readonly layout: GraphLayout | "failed" } | null>(null);
  useEffect(() => {
    let isWanted = true;
    const tell = (layout: GraphLayout | "failed"): void => {
      if (isWanted) setKnown({ hash: graph.hash, layout });
    };
    layoutFor(graph.hash, layoutRequest(graph)).then(tell, () => tell("failed"));
    return () => {
      isWanted = false;
    };
  }, [graph]);
  return known?.hash === graph.hash ? known.layout : null;
}

/** The size of the window onto the graph. */
function usePane(): readonly [ref: (element: HTMLElement | null) => (() => void) | undefined, pane: PaneSize | null] {
  const [pane, setPane] = useState<PaneSize | null>(null);
  const ref = useCallback((element: HTMLElement | null) => {
    if (!element) return;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width > 0 && height > 0) setPane((old) => (old?.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, pane];
}
