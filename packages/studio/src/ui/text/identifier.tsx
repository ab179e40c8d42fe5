import type { ReactNode } from "react";
import layout from "../layout.module.css";
import { shortIdentifier } from "./short-identifier.ts";

/** An id as rows show it: long ones keep their first 4 and last 8 characters. The whole id is in the tooltip, and is what is read aloud. */
export function Identifier({ id }: { readonly id: string }): ReactNode {
  const short = shortIdentifier(id);
  if (short === id)
    return (
      <span data-tip={id} data-tip-cut="">
        {id}
      </span>
    );
  return (
    <span data-tip={id}>
      <span aria-hidden="true">{short}</span>
      <span className={layout.hidden}>{id}</span>
    </span>
  );
}
