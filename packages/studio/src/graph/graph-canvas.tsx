import "@xyflow/react/dist/base.css";
import { Background, type Node as FlowNode, type NodeProps, ReactFlow, ReactFlowProvider, useReactFlow, useStore } from "@xyflow/react";
import { type CSSProperties, type KeyboardEvent, memo, type ReactNode, type RefObject, useEffect, useMemo, useRef } from "react";
import { useNarrow } from "../app/use-narrow.ts";
import type { GraphLayout } from "../model/layout/graph-layout.ts";
import { cardWidth } from "../model/layout/layout-request.ts";
import type { Card } from "./card/card.ts";
import { NodeCard } from "./card/node-card.tsx";
import { EdgeLayer } from "./edge-layer.tsx";
import type { Graph } from "./graph.ts";
import styles from "./graph-canvas.module.css";
import { GraphTools } from "./graph-tools.tsx";
import type { DrawnEdge } from "./shape/drawn-edges.ts";
import { neighbour } from "./shape/neighbour.ts";
import { boundsOf, farZoom, fitted, opening, type PaneSize, revealing, type Viewport, zoomed, zooms } from "./shape/viewport.ts";

interface CanvasProps {
  readonly graph: Graph;
  readonly layout: GraphLayout;
  readonly cards: ReadonlyMap<string, Card>;
  readonly edges: readonly DrawnEdge[];
  readonly selected: string | null;
  /** Where the execution stands: the graph opens there. */
  readonly stands: string | null;
  readonly onSelect: (id: string) => void;
  readonly onList: (isList: boolean) => void;
  /** The size of the window onto the graph. */
  readonly pane: PaneSize;
}

interface CardData extends Record<string, unknown> {
  readonly card: Card;
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
  readonly onSelect: CanvasProps["onSelect"];
}

type CardNode = FlowNode<CardData>;

/** The graph: it can be moved, zoomed, and walked through by keys. */
export function GraphCanvas(props: CanvasProps): ReactNode {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
}

function Canvas(props: CanvasProps): ReactNode {
  const { graph, layout, cards, edges, selected, stands, onSelect, onList, pane } = props;
  const ref = useRef<HTMLDivElement>(null);
  const flow = useReactFlow();
  const zoom = useStore(({ transform }) => transform[2]);
  const bounds = useMemo(() => boundsOf(layout.places, new Map([...cards].map(([id, { height }]) => [id, height]))), [layout, cards]);
  const nodes = useNodes(props);
  const hasMoved = useRef(false);
  const isNarrow = useNarrow();
  const begin = opening(bounds, pane, stands === null ? undefined : layout.places.get(stands));
  const keepView = useOpenedView(begin, pane);
  const show = (viewport: Viewport): void => {
    keepView();
    void flow.setViewport(viewport);
  };
  const showAll = (): void => show(fitted(bounds, pane));
  const zoomBy = (factor: number): void => show(zoomed(flow.getViewport(), factor, pane));
  useReveal({ layout, cards, selected, pane, ref, hasMoved });

  const press = (event: KeyboardEvent): void => {
    const next = neighbourAt(event.key, props);
    hasMoved.current = next !== null;
    if (next !== null) onSelect(next);
    else if (event.key === "+" || event.key === "=") zoomBy(1.25);
    else if (event.key === "-") zoomBy(1 / 1.25);
    else if (event.key === "0") showAll();
    else if (!isDirection(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the cards inside it
    <div ref={ref} className={styles.canvas} style={{ "--zoom": zoom } as CSSProperties} onKeyDown={press}>
      <ReactFlow
        aria-label={`Graph of ${graph.definition.id}`}
        className={styles.flow}
        nodes={nodes}
        nodeTypes={nodeTypes}
        defaultViewport={begin}
        // without an event it was moved by the page itself
        onMoveStart={(event) => event && keepView()}
        minZoom={zooms.least}
        maxZoom={zooms.most}
        // in a narrow window the page scrolls, and the wheel is for the page
        zoomOnScroll={!isNarrow}
        preventScrolling={!isNarrow}
        zoomActivationKeyCode={zoomKeys}
        {...onlyToLookAt}
      >
        <Background gap={20} size={1.5} />
        <EdgeLayer edges={edges} isFar={zoom < farZoom} />
      </ReactFlow>
      <GraphTools zoom={zoom} onZoom={zoomBy} onFit={showAll} isList={false} onList={onList} />
    </div>
  );
}

/** The card to which an arrow key leads. Null: there is none, or it is another key. */
function neighbourAt(key: string, { graph, layout, selected, stands }: CanvasProps): string | null {
  const here = selected ?? stands ?? graph.definition.nodes[0]?.id;
  return here === undefined || !isDirection(key) ? null : neighbour(here, key, graph.definition.edges, layout.places);
}

const CardOfNode = memo(function CardOfNode({ data }: NodeProps<CardNode>): ReactNode {
  const isFar = useStore(({ transform }) => transform[2] < farZoom);
  return <NodeCard {...data} isFar={isFar} />;
});

/** With one of them the wheel zooms. */
const zoomKeys = ["Control", "Meta"];
const nodeTypes = { card: CardOfNode };

/** The graph is looked at: nothing in it is moved, connected or chosen by the library itself. */
const onlyToLookAt = {
  onlyRenderVisibleElements: true,
  nodesDraggable: false,
  nodesConnectable: false,
  nodesFocusable: false,
  elementsSelectable: false,
  disableKeyboardA11y: true,
  deleteKeyCode: null,
  selectionKeyCode: null,
  multiSelectionKeyCode: null,
  zoomOnDoubleClick: false,
  proOptions: { hideAttribution: true },
} as const;

/** The cards as nodes of the flow. A node whose card has not changed is the same object, so that it is not rendered again. */
function useNodes({ graph, layout, cards, selected, stands, onSelect }: CanvasProps): CardNode[] {
  const kept = useRef(new Map<string, CardNode>());
  return useMemo(() => {
    const tabStop = selected !== null && cards.has(selected) ? selected : (stands ?? graph.definition.nodes[0]?.id);
    const nodes = [...cards.values()].map((card): CardNode => {
      const { id, height } = card;
      const data = { card, isSelected: id === selected, isTabStop: id === tabStop, onSelect };
      const old = kept.current.get(id);
      const position = layout.places.get(id)!;
      if (old && old.position === position && isSameData(old.data, data)) return old;
      const size = { width: cardWidth, height };
      return { id, type: "card", position, data, ...size, measured: size, handles: [] };
    });
    kept.current = new Map(nodes.map((node) => [node.id, node]));
    return nodes;
  }, [graph, layout, cards, selected, stands, onSelect]);
}

function isSameData(one: CardNode["data"], other: CardNode["data"]): boolean {
  return (
    one.card === other.card && one.isSelected === other.isSelected && one.isTabStop === other.isTabStop && one.onSelect === other.onSelect
  );
}

/**
 * Shows the graph as it opens until the reader has moved it: when a banner appears above it, or the window changes, all of it stays in sight.
 *
 * @returns what says that the reader has moved it
 */
function useOpenedView(begin: Viewport, pane: PaneSize): () => void {
  const flow = useReactFlow();
  const isKept = useRef(false);
  const latest = useRef(begin);
  latest.current = begin;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another size of the window changes what is seen
  useEffect(() => {
    if (!isKept.current) void flow.setViewport(latest.current);
  }, [flow, pane]);
  return () => {
    isKept.current = true;
  };
}

/** Brings the selected card into sight, and gives it the focus if a key has led to it. */
function useReveal(props: {
  readonly layout: GraphLayout;
  readonly cards: ReadonlyMap<string, Card>;
  readonly selected: string | null;
  readonly pane: PaneSize;
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly hasMoved: RefObject<boolean>;
}): void {
  const flow = useReactFlow();
  const latest = useRef(props);
  latest.current = props;
  const isFirst = useRef(true);
  const { selected } = props;
  useEffect(() => {
    const { layout, cards, pane, ref, hasMoved } = latest.current;
    const [place, card] = [layout.places.get(selected ?? ""), cards.get(selected ?? "")];
    const opens = isFirst.current;
    isFirst.current = false;
    if (selected === null || !place || !card || opens) return;
    void flow.setViewport(revealing({ ...place, width: cardWidth, height: card.height }, flow.getViewport(), pane));
    if (!hasMoved.current) return;
    hasMoved.current = false;
    // a card that was out of sight is there in the next frame
    const frame = requestAnimationFrame(() =>
      ref.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(selected)}"]`)?.focus({ preventScroll: true }),
    );
    return () => cancelAnimationFrame(frame);
  }, [selected, flow]);
}

function isDirection(key: string): key is "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown" {
  return key === "ArrowLeft" || key === "ArrowRight" || key === "ArrowUp" || key === "ArrowDown";
}
