import type { ReactNode } from "react";
import { Key } from "../../ui/controls/badge.tsx";
import { Button } from "../../ui/controls/button.tsx";
import { countText, nounText } from "../../ui/text/number-text.ts";
import styles from "./executions-page.module.css";
import type { ListState } from "./list/list-state.ts";

/** Says how much is shown, and of how much. */
export function ListFoot({ state, onMore }: { readonly state: ListState; readonly onMore: () => void }): ReactNode {
  const { rows, looked, nextCursor, isLoadingMore } = state;
  const count = rows.filter(({ isMatch }) => isMatch).length;
  const more = (
    <Button kind="ghost" isSmall busyWord={isLoadingMore ? "Looking" : null} onClick={onMore}>
      Look further
    </Button>
  );
  return (
    <div className={styles.foot}>
      <span className={styles.hint}>
        <Key>j</Key> <Key>k</Key> rows, <Key>?</Key> all keys
      </span>
      <span>{amountText(count, looked, nextCursor !== null)}</span>
      {looked !== null && nextCursor !== null && more}
    </div>
  );
}

function amountText(count: number, looked: number | null, hasMore: boolean): string {
  if (looked !== null)
    return `Looked at ${hasMore ? `the newest ${countText(looked)}` : `all ${countText(looked)}`}: ${countText(count)} match.`;
  return hasMore ? `${countText(count)} shown, more as you scroll.` : `${nounText(count, "execution")}, all shown.`;
}
