import type { KeyboardEvent, ReactNode } from "react";
import { classNames } from "../class-names.ts";
import type { ButtonProps } from "../controls/button.tsx";
import { Icon, type IconName } from "../icons/icon.tsx";
import styles from "./menu.module.css";
import { Popover } from "./popover.tsx";

/** An action of a menu. A `null` among the entries is a line between groups. */
export interface MenuEntry {
  readonly word: string;
  readonly icon?: IconName | undefined;
  readonly isDanger?: boolean | undefined;
  /** Stands at its right: a key, or a fact. */
  readonly end?: ReactNode;
  /** Why it is not possible: stands at its right. */
  readonly disabledReason?: string | null | undefined;
  readonly onChoose: () => void;
}

/** A button with a menu below it. The arrow keys, Home and End move in it. */
export function Menu(props: {
  readonly button: ButtonProps;
  readonly label: string;
  readonly align?: "start" | "end" | undefined;
  readonly entries: readonly (MenuEntry | null)[];
}): ReactNode {
  const { button, label, align, entries } = props;
  return (
    <Popover button={button} label={label} align={align} role="menu">
      {(close) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the menu around it
        <div className={styles.menu} onKeyDown={moveFocus}>
          {entries.map((entry, index) =>
            entry ? (
              <MenuRow key={entry.word} entry={entry} close={close} />
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name
              <hr key={index} className={styles.rule} />
            ),
          )}
        </div>
      )}
    </Popover>
  );
}

function MenuRow({ entry, close }: { readonly entry: MenuEntry; readonly close: () => void }): ReactNode {
  const { word, icon, isDanger, end, disabledReason, onChoose } = entry;
  const choose = (): void => {
    if (disabledReason) return;
    close();
    onChoose();
  };
  return (
    <button
      type="button"
      role="menuitem"
      aria-disabled={disabledReason ? true : undefined}
      className={classNames(styles.entry, isDanger && styles.isDanger)}
      onClick={choose}
    >
      {icon && <Icon name={icon} />}
      {word}
      {(disabledReason || end) && <span className={styles.end}>{disabledReason ?? end}</span>}
    </button>
  );
}

function moveFocus(event: KeyboardEvent<HTMLDivElement>): void {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="menuitem"]')];
  const index = rows.findIndex((row) => row.matches(":focus"));
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  rows.at(next % rows.length)?.focus();
}
