import { type ComponentProps, type MouseEvent, type ReactNode, useId } from "react";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icons/icon.tsx";
import layout from "../layout.module.css";
import styles from "./button.module.css";

/** The rank of an action. There is one primary button on a screen. */
export type ButtonKind = "primary" | "outlined" | "ghost" | "danger";

/** What a button may have besides the attributes of HTML. */
export interface ButtonProps extends Omit<ComponentProps<"button">, "disabled" | "type" | "children"> {
  readonly children?: ReactNode;
  readonly kind?: ButtonKind | undefined;
  /** 24 px instead of 30. */
  readonly isSmall?: boolean | undefined;
  /** An icon before the word. */
  readonly icon?: IconName | undefined;
  /** An icon after the word, such as `chevron-down`. */
  readonly endIcon?: IconName | undefined;
  /** Only the icon is seen: then it needs this text, which is its name and its tooltip. */
  readonly label?: string | undefined;
  /** Why the action is not possible: the button stays reachable, does nothing, and tells this reason. */
  readonly disabledReason?: string | null | undefined;
  /** The action is under way: this word stands in the button, its width does not change, and it does nothing. */
  readonly busyWord?: string | null | undefined;
  /** `submit` sends the form around it. */
  readonly type?: "button" | "submit" | undefined;
}

/** A button. It is never `disabled` in the sense of HTML, so that its reason can be read by everybody. */
export function Button(props: ButtonProps): ReactNode {
  const { kind = "outlined", isSmall, icon, endIcon, label, disabledReason, busyWord, type, children, className, onClick, ...rest } = props;
  const reasonId = useId();
  const isOff = Boolean(disabledReason) || Boolean(busyWord);
  const press = (event: MouseEvent<HTMLButtonElement>): void => {
    // also keeps a submit button from sending its form
    if (isOff) event.preventDefault();
    else onClick?.(event);
  };
  const isSquare = label !== undefined && children === undefined;
  return (
    <button
      aria-label={label}
      data-tip={disabledReason ?? (isSquare ? label : undefined)}
      {...rest}
      type={type === "submit" ? "submit" : "button"}
      aria-disabled={isOff || undefined}
      aria-describedby={disabledReason ? reasonId : rest["aria-describedby"]}
      className={classNames(styles.button, styles[kind], isSmall && styles.isSmall, isSquare && styles.isSquare, className)}
      onClick={press}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && (
        <span className={styles.word}>{busyWord ? <BusyWord word={busyWord}>{children}</BusyWord> : children}</span>
      )}
      {endIcon && <Icon name={endIcon} />}
      {disabledReason && (
        <span id={reasonId} className={layout.hidden}>
          {disabledReason}
        </span>
      )}
    </button>
  );
}

/** Both words in one cell, so that the button is as wide as the wider one. */
function BusyWord({ word, children }: { readonly word: string; readonly children: ReactNode }): ReactNode {
  return (
    <span className={styles.busy}>
      <span aria-hidden="true" className={styles.behind}>
        {children}
      </span>
      <span>{word}</span>
    </span>
  );
}
