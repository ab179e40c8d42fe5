import type { ReactNode } from "react";
import { Button } from "../../../ui/controls/button.tsx";
import { Segment } from "../../../ui/controls/segment.tsx";
import { Icon } from "../../../ui/icons/icon.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { filterKinds } from "./filter-kinds.tsx";
import styles from "./filter-sheet.module.css";
import { type Filters, noFilters } from "./filters.ts";

/** All filters one below the other, for narrow screens. What is set is open. */
export function FilterSheet(props: {
  readonly filters: Filters;
  readonly onChange: (change: Partial<Filters>) => void;
  readonly onClose: () => void;
}): ReactNode {
  const { filters, onChange, onClose } = props;
  return (
    <Dialog
      kind="sheet"
      title="Filters"
      onClose={onClose}
      footNote={<Button onClick={() => onChange({ ...noFilters, order: filters.order, text: filters.text })}>Clear</Button>}
      actions={
        <Button kind="primary" onClick={onClose}>
          Show
        </Button>
      }
    >
      <Segment
        label="Order"
        entries={[
          { value: "newest", word: "Newest first" },
          { value: "oldest", word: "Oldest first" },
        ]}
        value={filters.order}
        onChange={(order) => onChange({ order })}
      />
      <div>
        {filterKinds.map(({ word, valueText, Editor }) => (
          <details key={word} className={styles.filter} name="filter">
            <summary>
              <span>
                {word} <b>{valueText(filters)}</b>
              </span>
              <Icon name="chevron-down" />
            </summary>
            <Editor filters={filters} onChange={onChange} onDone={() => undefined} />
          </details>
        ))}
      </div>
    </Dialog>
  );
}
