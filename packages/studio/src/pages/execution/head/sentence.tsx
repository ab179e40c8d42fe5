import type { ReactNode } from "react";
import type { MarkedSentence } from "stepfold/core";
import { sentenceParts } from "../../../model/sentence-parts.ts";
import { useNow } from "../../../ui/text/now.tsx";
import { isoText, timeText } from "../../../ui/text/time-text.ts";

/** A sentence of the engine: times in the reader's own time zone, names of places as code, people emphasised. */
export function Sentence({ text }: { readonly text: MarkedSentence }): ReactNode {
  const now = useNow();
  return sentenceParts(text).map((part, index) => {
    const key = `${index} ${part.kind}`;
    if (part.kind === "code") return <code key={key}>{part.text}</code>;
    if (part.kind === "name") return <b key={key}>{part.text}</b>;
    if (part.kind !== "time") return <span key={key}>{part.text}</span>;
    return (
      <time key={key} dateTime={isoText(part.at)} data-tip={part.text}>
        <b>{sentenceTime(part.at, now)}</b>
      </time>
    );
  });
}

/** Seconds count only if the time is near. */
function sentenceTime(at: number, now: number): string {
  const text = timeText(at, now);
  return Math.abs(at - now) < 600_000 ? text : text.replace(/^(\d\d:\d\d):\d\d$/, "$1");
}
