import { type ReactNode, useEffect, useState } from "react";
import { Button, type ButtonKind } from "./button.tsx";

/** Copies a text. Afterwards it says so for two seconds. Without a word only its icon is seen. */
export function CopyButton(props: {
  readonly text: string;
  readonly word?: string | undefined;
  /** The name of the button if it has no word, such as "Copy id". */
  readonly label?: string | undefined;
  readonly kind?: ButtonKind | undefined;
  readonly isSmall?: boolean | undefined;
}): ReactNode {
  const { text, word, label, kind = "ghost", isSmall } = props;
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    // a page without a secure origin has no clipboard
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  const icon = isCopied ? "check" : "copy";
  if (word === undefined)
    return <Button kind={kind} isSmall={isSmall} icon={icon} label={isCopied ? "Copied" : (label ?? "Copy")} onClick={copy} />;
  return (
    <Button kind={kind} isSmall={isSmall} icon={icon} onClick={copy}>
      {isCopied ? "Copied" : word}
    </Button>
  );
}
