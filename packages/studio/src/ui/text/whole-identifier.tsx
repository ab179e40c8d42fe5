import type { ReactNode } from "react";
import layout from "../layout.module.css";
import styles from "./whole-identifier.module.css";

const tailLength = 8;

/** An id with all the room that there is. Where it does not fit, its middle goes: ids made by time are alike at the front. */
export function WholeIdentifier({ id }: { readonly id: string }): ReactNode {
  // by characters, so that no surrogate pair is torn
  const characters = [...id];
  const split = Math.max(0, characters.length - tailLength);
  return (
    <span className={styles.whole} data-tip={id}>
      {/* what is read aloud has no gap */}
      <span className={layout.hidden}>{id}</span>
      {split > 0 && (
        <span aria-hidden="true" className={styles.head}>
          {characters.slice(0, split).join("")}
        </span>
      )}
      <span aria-hidden="true" className={styles.tail}>
        {characters.slice(split).join("")}
      </span>
    </span>
  );
}
