import { type ReactNode, useMemo, useState } from "react";
import { useStudio } from "../../../app/studio-context.ts";
import { openedTree, type TreeRow, type TreeView, toggled, treeRows, withMore } from "../../../model/value/json-tree.ts";
import { useRows } from "../../../timeline/use-rows.ts";
import { classNames } from "../../../ui/class-names.ts";
import { Icon } from "../../../ui/icons/icon.tsx";
import { countText, sizeText } from "../../../ui/text/number-text.ts";
import styles from "./json-view.module.css";

const rowHeight = 24;
/** The most rows that a tree inside a page shows at once, before it scrolls. */
const maxRowsInside = 16;

/** A JSON value as a tree. Only what is open and in sight is rendered. @param label what it is, for screen readers */
export function JsonView(props: {
  readonly value: unknown;
  readonly label: string;
  /** So many levels are open at first. Default 2. */
  readonly levels?: number;
  /** It fills the place that it has, instead of being as high as its rows. */
  readonly isWhole?: boolean;
}): ReactNode {
  const { value, label, levels = 2, isWhole = false } = props;
  const [seen, setSeen] = useState<{ readonly value: unknown; readonly view: TreeView } | null>(null);
  // another value of the same place keeps what is open
  const view = useMemo(() => seen?.view ?? openedTree(value, levels), [seen, value, levels]);
  const rows = useMemo(() => treeRows(value, view), [value, view]);
  const shown = useRows(rows.length, rowHeight);
  const change = (next: TreeView): void => setSeen({ value, view: next });
  const height = rows.length * rowHeight;
  return (
    <section
      ref={shown.ref}
      className={classNames(styles.tree, isWhole && styles.isWhole)}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
      tabIndex={0}
      style={isWhole ? undefined : { height: Math.min(height, maxRowsInside * rowHeight) + 2 }}
    >
      <div className={styles.rows} style={{ height }}>
        {rows.slice(shown.first, shown.end).map((row, index) => (
          <Row key={`${row.kind} ${row.key}`} row={row} top={(shown.first + index) * rowHeight} view={view} onChange={change} />
        ))}
      </div>
    </section>
  );
}

function Row(props: {
  readonly row: TreeRow;
  readonly top: number;
  readonly view: TreeView;
  readonly onChange: (view: TreeView) => void;
}): ReactNode {
  const { row, top, view, onChange } = props;
  const { kind, name, key, isOpen, path } = row;
  const depth = kind === "more" ? path.length + 1 : path.length;
  return (
    <div className={styles.row} style={{ top, paddingLeft: Math.min(depth, 20) * 14 }}>
      {kind === "branch" ? (
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={isOpen}
          aria-label={name ?? "value"}
          onClick={() => onChange(toggled(view, key))}
        >
          <Icon name="chevron-down" />
        </button>
      ) : (
        <span className={styles.indent} />
      )}
      {name !== null && (
        <span className={styles.name} data-tip={name.slice(0, 2_000)} data-tip-cut="">
          {name}
        </span>
      )}
      <Value row={row} view={view} onChange={onChange} />
    </div>
  );
}

function Value({
  row,
  view,
  onChange,
}: {
  readonly row: TreeRow;
  readonly view: TreeView;
  readonly onChange: (view: TreeView) => void;
}): ReactNode {
  const { kind, text, type, key } = row;
  if (kind === "cut") return <CutText bytes={Number(text)} />;
  if (kind === "more")
    return (
      <button type="button" className={styles.more} onClick={() => onChange(withMore(view, key))}>
        {countText(Number(text))} more: show the next
      </button>
    );
  return (
    <span className={styles.value} data-type={type} data-tip={text.slice(0, 2_000)} data-tip-cut="">
      {text}
    </span>
  );
}

/** Stands in place of a value that the caller may not see, or that is too large to be told with everything else. */
function CutText({ bytes }: { readonly bytes: number }): ReactNode {
  const { me } = useStudio();
  return (
    <span className={styles.cut}>
      {sizeText(bytes)}, {me.scopes.includes("values") ? "too large for this view" : "not visible to you"}
    </span>
  );
}
