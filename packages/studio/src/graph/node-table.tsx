import type { ReactNode } from "react";
import { classNames } from "../ui/class-names.ts";
import layout from "../ui/layout.module.css";
import { StatusWord } from "../ui/status/status-word.tsx";
import { countText } from "../ui/text/number-text.ts";
import type { Card } from "./card/card.ts";
import { CardFactText } from "./card/card-fact.tsx";
import { GraphTools } from "./graph-tools.tsx";
import styles from "./node-table.module.css";
import type { DrawnEdge } from "./shape/drawn-edges.ts";

/** The most rows. */
const maxRows = 1_000;

/** The graph as a table: the same facts, for everybody who does not see the picture. */
export function NodeTable(props: {
  readonly cards: ReadonlyMap<string, Card>;
  readonly edges: readonly Pick<DrawnEdge, "source" | "target" | "handle" | "count">[];
  readonly selected: string | null;
  readonly onSelect: (id: string) => void;
  /** Null: there is no picture. */
  readonly onList: ((isList: boolean) => void) | null;
}): ReactNode {
  const { cards, edges, selected, onSelect, onList } = props;
  const bySource = new Map<string, (typeof edges)[number][]>();
  for (const edge of edges) bySource.set(edge.source, [...(bySource.get(edge.source) ?? []), edge]);
  return (
    <div className={styles.list}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <section className={styles.scroll} aria-label="Nodes" tabIndex={0}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Type</th>
              <th scope="col">State</th>
              <th scope="col">Facts</th>
              <th scope="col">Leads to</th>
            </tr>
          </thead>
          <tbody>
            {[...cards.values()].slice(0, maxRows).map((card) => (
              <NodeRow
                key={card.id}
                card={card}
                edges={bySource.get(card.id) ?? []}
                isSelected={card.id === selected}
                onSelect={onSelect}
              />
            ))}
          </tbody>
        </table>
        {cards.size > maxRows && (
          <p className={styles.more}>
            {countText(cards.size - maxRows)} more nodes are not in this list; the graph and the definition have all.
          </p>
        )}
      </section>
      {onList && <GraphTools zoom={null} onZoom={() => undefined} onFit={() => undefined} isList onList={onList} />}
    </div>
  );
}

function NodeRow(props: {
  readonly card: Card;
  readonly edges: readonly Pick<DrawnEdge, "target" | "handle" | "count">[];
  readonly isSelected: boolean;
  readonly onSelect: (id: string) => void;
}): ReactNode {
  const { card, edges, isSelected, onSelect } = props;
  const { id, name, type, status, fact, note, badges, items } = card;
  const more = [...badges, ...(items && items.failed > 0 ? [`${countText(items.failed)} failed`] : []), ...(note ? [note.text] : [])];
  return (
    <tr className={classNames(styles.row, isSelected && styles.isSelected)}>
      <td>
        <button type="button" className={styles.name} aria-pressed={isSelected} onClick={() => onSelect(id)}>
          {name}
        </button>
      </td>
      <td className={classNames(layout.mono, layout.muted)}>{type}</td>
      <td>
        <StatusWord status={status} />
      </td>
      <td>
        <CardFactText fact={fact} status={status} />
        {more.length > 0 && <span className={layout.muted}> {more.join(" · ")}</span>}
      </td>
      <td className={layout.muted}>{edges.map(({ target, handle, count }) => edgeText(target, handle, count)).join(", ")}</td>
    </tr>
  );
}

function edgeText(target: string, handle: string, count: number): string {
  return `${handle === "" ? "" : `${handle} → `}${target}${count > 0 ? ` (taken${count > 1 ? ` ${countText(count)} times` : ""})` : ""}`;
}
