import { type MouseEvent, type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { classNames } from "../class-names.ts";
import { Button } from "../controls/button.tsx";
import styles from "./dialog.module.css";

/**
 * A dialog over the page. It is open as long as it is rendered; the focus stays inside it and goes back afterwards. It is closed by its
 * button and by Escape, a sheet also by a click beside it.
 */
export function Dialog(props: {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** What will happen, at the left of the foot. */
  readonly footNote?: ReactNode;
  /** The buttons of the foot, the primary one last. */
  readonly actions?: ReactNode;
  /** `sheet`: at the bottom of a narrow screen. `narrow`: 400 px wide. */
  readonly kind?: "dialog" | "narrow" | "sheet" | undefined;
  /** False: it cannot be closed, because nothing is possible without it. */
  readonly canClose?: boolean | undefined;
}): ReactNode {
  const { title, onClose, children, footNote, actions, kind = "dialog", canClose = true } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = ref.current!;
    if (!dialog.open) dialog.showModal();
    // by itself, the browser would begin with the button that closes it
    dialog.querySelector<HTMLElement>(field)?.focus();
    return () => dialog.close();
  }, []);
  const clickBeside = (event: MouseEvent<HTMLDialogElement>): void => {
    if (kind === "sheet" && event.target === event.currentTarget) onClose();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <dialog
      ref={ref}
      className={classNames(styles.dialog, kind !== "dialog" && styles[kind])}
      aria-labelledby={titleId}
      onClick={clickBeside}
      onCancel={(event) => {
        // the page decides: it removes the dialog
        event.preventDefault();
        if (canClose) onClose();
      }}
    >
      <div className={styles.head}>
        <h2 id={titleId} className={styles.title}>
          {title}
        </h2>
        {canClose && <Button kind="ghost" icon="x" label="Close" onClick={onClose} />}
      </div>
      <div className={styles.body}>{children}</div>
      {(footNote || actions) && (
        <div className={styles.foot}>
          <div className={styles.footNote}>{footNote}</div>
          {actions}
        </div>
      )}
    </dialog>
  );
}

const field = 'input:not([type="checkbox"]), select, textarea';
