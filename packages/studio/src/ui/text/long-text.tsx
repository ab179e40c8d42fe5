import { type ReactNode, useId, useState } from "react";
import { classNames } from "../class-names.ts";
import { Button } from "../controls/button.tsx";
import { beginningOf } from "./beginning.ts";
import styles from "./long-text.module.css";

/** A text with its lines. Of a long one the beginning is shown, and all of it on demand. */
export function LongText({ text, className }: { readonly text: string; readonly className?: string | undefined }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const id = useId();
  const beginning = beginningOf(text);
  return (
    <>
      <p id={id} className={classNames(styles.text, className)}>
        {beginning === null || isWhole ? text : beginning}
      </p>
      {beginning !== null && (
        <Button isSmall className={styles.more} aria-expanded={isWhole} aria-controls={id} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : "Show all"}
        </Button>
      )}
    </>
  );
}
