import type { ReactNode } from "react";
import { type ShownStatus, statusWord } from "./shown-status.ts";
import { StatusGlyph } from "./status-glyph.tsx";
import styles from "./status-word.module.css";

/** Glyph and word, for rows: only the glyph has the colour. */
export function StatusWord({ status }: { readonly status: ShownStatus }): ReactNode {
  return (
    <span className={styles.word}>
      <StatusGlyph status={status} />
      {statusWord(status)}
    </span>
  );
}

/** Glyph and word in a tinted box with the border of the status, for heads. */
export function StatusChip({ status }: { readonly status: ShownStatus }): ReactNode {
  return (
    <span className={styles.chip} data-status={status}>
      <StatusGlyph status={status} />
      {statusWord(status)}
    </span>
  );
}
