import type { KeyboardEvent, ReactNode } from "react";
import { classNames } from "../class-names.ts";
import styles from "./tabs.module.css";

/** One tab of a row of tabs. */
export interface TabEntry<Id extends string = string> {
  readonly id: Id;
  readonly word: string;
  /** A number beside the word. */
  readonly count?: string | undefined;
}

/**
 * A row of tabs, 40 px, or 36 if it is small. The arrow keys, Home and End move between them. What is shown below is a `TabPanel` with the
 * same `group`.
 */
export function Tabs<Id extends string>(props: {
  /** The name of the row, for screen readers. */
  readonly label: string;
  /** Joins tabs and panels: a text that no other row of the page has. */
  readonly group: string;
  readonly tabs: readonly TabEntry<Id>[];
  readonly selected: Id;
  readonly onSelect: (id: Id) => void;
  readonly isSmall?: boolean | undefined;
  /** Stands at the end of the row, such as the slider of versions. */
  readonly end?: ReactNode;
}): ReactNode {
  const { label, group, tabs, selected, onSelect, isSmall, end } = props;
  const press = (event: KeyboardEvent<HTMLElement>): void => {
    const index = tabs.findIndex(({ id }) => id === selected);
    const next = nextIndex(event.key, index, tabs.length);
    if (next === null) return;
    event.preventDefault();
    onSelect(tabs[next]!.id);
    (event.currentTarget.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div className={classNames(styles.row, isSmall && styles.isSmall)}>
      <div role="tablist" aria-label={label} className={styles.tabs} onKeyDown={press}>
        {tabs.map(({ id, word, count }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${group}-tab-${id}`}
            aria-selected={id === selected}
            aria-controls={`${group}-panel-${id}`}
            tabIndex={id === selected ? 0 : -1}
            className={styles.tab}
            onClick={() => onSelect(id)}
          >
            {word}
            {count !== undefined && <span className={styles.count}>{count}</span>}
          </button>
        ))}
      </div>
      {end}
    </div>
  );
}

/** What belongs to the selected tab of the row with the same `group`. */
export function TabPanel(props: {
  readonly group: string;
  readonly id: string;
  readonly children: ReactNode;
  readonly className?: string | undefined;
}): ReactNode {
  const { group, id, children, className } = props;
  return (
    <div role="tabpanel" id={`${group}-panel-${id}`} aria-labelledby={`${group}-tab-${id}`} className={className}>
      {children}
    </div>
  );
}

function nextIndex(key: string, index: number, count: number): number | null {
  if (key === "ArrowRight") return (index + 1) % count;
  if (key === "ArrowLeft") return (index + count - 1) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}
