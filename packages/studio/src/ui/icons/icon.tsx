import type { ReactNode } from "react";
import styles from "./icon.module.css";
import { iconPaths } from "./icon-paths.ts";

/** The name of an icon, as Lucide calls it. */
export type IconName = keyof typeof iconPaths;

/** An icon in the colour of its text: 14 px, or 16 px if it is large. It has no meaning of its own: a word stands beside it. */
export function Icon({ name, isLarge = false }: { readonly name: IconName; readonly isLarge?: boolean }): ReactNode {
  return (
    <svg className={isLarge ? styles.large : styles.icon} viewBox="0 0 24 24" aria-hidden="true">
      <path d={iconPaths[name]} />
    </svg>
  );
}
