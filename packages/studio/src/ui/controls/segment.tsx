import type { ReactNode } from "react";
import { Icon, type IconName } from "../icons/icon.tsx";
import layout from "../layout.module.css";
import styles from "./segment.module.css";

/** One choice of a segment. */
export interface SegmentEntry<Value extends string = string> {
  readonly value: Value;
  readonly word: string;
  /** Shown instead of the word. */
  readonly icon?: IconName | undefined;
}

/** Two or three choices of which one holds, side by side. */
export function Segment<Value extends string>(props: {
  /** The name of the choice, for screen readers. */
  readonly label: string;
  readonly entries: readonly SegmentEntry<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}): ReactNode {
  const { label, entries, value, onChange } = props;
  return (
    <fieldset className={styles.segment}>
      <legend className={layout.hidden}>{label}</legend>
      {entries.map((entry) => (
        <button
          key={entry.value}
          type="button"
          aria-pressed={entry.value === value}
          aria-label={entry.icon && entry.word}
          data-tip={entry.icon && entry.word}
          className={styles.choice}
          onClick={() => onChange(entry.value)}
        >
          {entry.icon ? <Icon name={entry.icon} /> : entry.word}
        </button>
      ))}
    </fieldset>
  );
}
