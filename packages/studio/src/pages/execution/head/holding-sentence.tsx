import type { ReactNode } from "react";
import { type Holding, holdingParts } from "../../../model/holding.ts";

/** Who holds the execution, as a sentence in the words of the list. */
export function HoldingSentence({ holding }: { readonly holding: Holding }): ReactNode {
  const [before, owner, after] = holdingParts(holding);
  return (
    <>
      {before[0]!.toUpperCase()}
      {before.slice(1)}
      {owner !== "" && <b>{owner}</b>}
      {after}.
    </>
  );
}
