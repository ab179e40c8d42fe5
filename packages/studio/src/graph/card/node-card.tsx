import { type CSSProperties, memo, type NamedExoticComponent, type ReactNode } from "react";
import { headMiddle } from "../../model/layout/layout-request.ts";
import { classNames } from "../../ui/class-names.ts";
import { IconSquare } from "../../ui/icons/icon-square.tsx";
import { statusWord } from "../../ui/status/shown-status.ts";
import { StatusGlyph } from "../../ui/status/status-glyph.tsx";
import { useNow } from "../../ui/text/now.tsx";
import { countText } from "../../ui/text/number-text.ts";
import type { Card } from "./card.ts";
import { CardFactText } from "./card-fact.tsx";
import { Meter } from "./meter.tsx";
import styles from "./node-card.module.css";
import { portMiddle } from "./ports.ts";

interface NodeCardProps {
  readonly card: Card;
  readonly isSelected: boolean;
  /** The card to which the tab key leads. */
  readonly isTabStop: boolean;
  /** So small that nothing on it could be read. */
  readonly isFar: boolean;
  readonly onSelect: (id: string) => void;
}

/** A node of the graph, with what it does. */
export const NodeCard: NamedExoticComponent<NodeCardProps> = memo(function NodeCard({
  card,
  isSelected,
  isTabStop,
  isFar,
  onSelect,
}: NodeCardProps): ReactNode {
  const { id, name, type, status } = card;
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      // what stands on the card is its name; a box has no text
      aria-label={isFar ? `${name}, ${type}, ${statusWord(status)}` : undefined}
      tabIndex={isTabStop ? 0 : -1}
      data-node={id}
      data-status={status}
      className={classNames(styles.card, isSelected && styles.isSelected, isFar && styles.isFar)}
      onClick={() => onSelect(id)}
    >
      {!isFar && <CardFace card={card} />}
    </button>
  );
});

function CardFace({ card }: { readonly card: Card }): ReactNode {
  const { name, type, icon, status, note, items, badges, ports, fact } = card;
  const isLast = !note && !items && ports.named.length === 0;
  const state = (
    <>
      <StatusGlyph status={status} />
      <span>{statusWord(status)}</span>
      <span className={styles.fact}>
        <CardFactText fact={fact} status={status} />
      </span>
    </>
  );
  return (
    <>
      {badges.length > 0 && (
        <span className={styles.badges}>
          {badges.map((badge) => (
            <span key={badge} className={styles.badge}>
              {badge}
            </span>
          ))}
        </span>
      )}
      <span className={styles.head}>
        <IconSquare name={icon} status={status} />
        <span className={styles.names}>
          <span className={styles.name} data-tip={name} data-tip-cut="">
            {name}
          </span>
          <span className={styles.type} data-tip={type} data-tip-cut="">
            {type}
          </span>
        </span>
      </span>
      {fact.from !== null && fact.until !== null ? (
        <DrainingRow from={fact.from} until={fact.until} isLast={isLast}>
          {state}
        </DrainingRow>
      ) : (
        <span className={classNames(styles.state, isLast && styles.isLast)}>{state}</span>
      )}
      {items && <ItemLines items={items} />}
      {note && !items && (
        <span className={classNames(styles.note, note.isBad && styles.isBad)} data-tip={note.text} data-tip-cut="">
          {note.text}
        </span>
      )}
      <CardPorts card={card} />
    </>
  );
}

/** The row of a retry: it drains until the next attempt. */
function DrainingRow(props: {
  readonly from: number;
  readonly until: number;
  readonly isLast: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const { from, until, isLast, children } = props;
  const now = useNow();
  const left = Math.min(1, Math.max(0, (until - now) / Math.max(1, until - from)));
  return (
    <span
      className={classNames(styles.state, styles.isDraining, isLast && styles.isLast)}
      style={{ "--left": `${Math.round(100 * left)}%` } as CSSProperties}
    >
      {children}
    </span>
  );
}

function ItemLines({ items }: { readonly items: NonNullable<Card["items"]> }): ReactNode {
  const { failed, waiting, concurrency } = items;
  return (
    <span className={styles.items}>
      <Meter items={items} />
      <span className={styles.counts}>
        {failed > 0 && (
          <span className={styles.count}>
            <StatusGlyph status="failed" />
            {countText(failed)} failed
          </span>
        )}
        {waiting !== null && waiting > 0 && (
          <span className={styles.count}>
            <StatusGlyph status="paused" />
            {countText(waiting)} waiting
          </span>
        )}
        <span className={styles.most}>{countText(concurrency)} at once</span>
      </span>
    </span>
  );
}

function CardPorts({ card: { ports, taken, height } }: { readonly card: Card }): ReactNode {
  const dot = (handle: string, top: number): ReactNode => (
    <i
      key={`dot ${handle}`}
      className={classNames(styles.dot, taken.includes(handle) && styles.dotTaken, handle === "error" && styles.dotError)}
      style={{ top }}
    />
  );
  return (
    <>
      {ports.named.length > 0 && (
        <span className={styles.ports}>
          {ports.named.map((handle) => (
            <span
              key={handle}
              className={classNames(styles.port, taken.includes(handle) && styles.portTaken)}
              data-tip={handle}
              data-tip-cut=""
            >
              {handle}
            </span>
          ))}
        </span>
      )}
      {ports.hasDefault && dot("", headMiddle)}
      {ports.named.map((handle) => dot(handle, portMiddle(ports, handle, height)))}
    </>
  );
}
