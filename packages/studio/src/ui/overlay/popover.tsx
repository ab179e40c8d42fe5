import { type ReactNode, type ToggleEvent, useId, useRef, useState } from "react";
import { Button, type ButtonProps } from "../controls/button.tsx";
import styles from "./popover.module.css";
import { positionBeside } from "./position.ts";

/**
 * A button that opens something which floats below it. A click beside it, Escape and `close` close it. What floats is rendered only while
 * it is open, and its first control gets the focus.
 */
export function Popover(props: {
  /** What the button has: word, icon and so on. */
  readonly button: ButtonProps;
  /** Which edges of button and content are in line. */
  readonly align?: "start" | "end" | undefined;
  /** The name of what floats, for screen readers. */
  readonly label: string;
  readonly role?: "dialog" | "menu" | undefined;
  readonly children: (close: () => void) => ReactNode;
}): ReactNode {
  const { button, align = "start", label, role = "dialog", children } = props;
  const id = useId();
  const trigger = useRef<HTMLButtonElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const prepare = ({ newState }: ToggleEvent<HTMLDivElement>): void => {
    // its size is known when it is shown; until it stands where it belongs, it is not seen
    content.current!.style.visibility = "hidden";
    if (newState === "open") setOpen(true);
  };
  const show = ({ newState }: ToggleEvent<HTMLDivElement>): void => {
    if (newState === "closed") {
      setOpen(false);
      return;
    }
    positionBeside(content.current!, trigger.current!, align);
    content.current!.style.visibility = "";
    content.current!.querySelector<HTMLElement>(focusable)?.focus();
  };
  return (
    <>
      <Button
        {...button}
        ref={trigger}
        aria-haspopup={role}
        aria-expanded={isOpen}
        popoverTarget={button.disabledReason ? undefined : id}
      />
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles may have a name */}
      <div
        ref={content}
        id={id}
        popover="auto"
        role={role}
        aria-label={label}
        className={styles.popover}
        onBeforeToggle={prepare}
        onToggle={show}
      >
        {isOpen && children(() => content.current?.hidePopover())}
      </div>
    </>
  );
}

const focusable = "button:not([aria-disabled]), input, select, textarea, a[href]";
