import type { ComponentProps, ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icons/icon.tsx";
import styles from "./input.module.css";

/** A field for one line of text. With an icon or an end (such as a key) the frame is around all of them. */
export function TextInput(props: ComponentProps<"input"> & { readonly icon?: IconName; readonly end?: ReactNode }): ReactNode {
  const { icon, end, className, ...rest } = props;
  if (!icon && !end) return <input {...rest} className={classNames(styles.input, className)} />;
  return (
    <label className={classNames(styles.input, styles.frame, className)}>
      {icon && <Icon name={icon} />}
      <input {...rest} className={styles.bare} />
      {end}
    </label>
  );
}

/** A field for several lines of text; in mono if a machine reads it, such as JSON. */
export function TextArea({ isMono, className, ...rest }: ComponentProps<"textarea"> & { readonly isMono?: boolean }): ReactNode {
  return (
    <textarea
      {...rest}
      spellCheck={isMono ? false : rest.spellCheck}
      className={classNames(styles.input, styles.area, isMono && styles.mono, className)}
    />
  );
}

/** The native list of choices. Its children are `<option>` elements. */
export function Select({ className, ...rest }: ComponentProps<"select">): ReactNode {
  return (
    <span className={classNames(styles.select, className)}>
      <select {...rest} className={styles.input} />
      <Icon name="chevron-down" />
    </span>
  );
}

/** A box to check, with its word. `isPart`: some of what it stands for is chosen. */
export function Checkbox(props: Omit<ComponentProps<"input">, "type"> & { readonly isPart?: boolean }): ReactNode {
  const { isPart = false, children, className, ...rest } = props;
  const mark = (input: HTMLInputElement | null): void => {
    if (input) input.indeterminate = isPart;
  };
  return (
    <label className={classNames(styles.choice, className)}>
      <input {...rest} ref={mark} type="checkbox" className={styles.check} />
      {children}
    </label>
  );
}

/** One of several choices, with its word. */
export function Radio({ children, className, ...rest }: Omit<ComponentProps<"input">, "type">): ReactNode {
  return (
    <label className={classNames(styles.choice, className)}>
      <input {...rest} type="radio" className={styles.radio} />
      {children}
    </label>
  );
}

/** One of a few answers, as a box of 40 px that is a target as a whole. */
export function AnswerChoice({ children, className, ...rest }: Omit<ComponentProps<"input">, "type">): ReactNode {
  return (
    <label className={classNames(styles.answer, className)}>
      <input {...rest} type="radio" className={styles.radio} />
      {children}
    </label>
  );
}
