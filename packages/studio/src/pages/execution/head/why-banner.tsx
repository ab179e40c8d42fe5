import type { ReactNode } from "react";
import type { Explanation, Json, PlaceInfo } from "stepfold/core";
import type { Holding } from "../../../model/holding.ts";
import { isDue, type LeadPlaces, rootNode } from "../../../model/places.ts";
import { addressedSentence, noWorkerSentence, runningSentence, withTimes } from "../../../model/sentence-parts.ts";
import { cutBytes } from "../../../model/value/json-tree.ts";
import layout from "../../../ui/layout.module.css";
import type { ShownStatus } from "../../../ui/status/shown-status.ts";
import { StatusGlyph } from "../../../ui/status/status-glyph.tsx";
import { countText, nounText } from "../../../ui/text/number-text.ts";
import { Countdown } from "../../../ui/text/time.tsx";
import { HoldingSentence } from "./holding-sentence.tsx";
import { Sentence } from "./sentence.tsx";
import styles from "./why-banner.module.css";

/** Why the execution stands where it stands, who can move it, and until when: the place that somebody can move first. */
export function WhyBanner(props: {
  readonly status: ShownStatus;
  readonly explanation: Explanation;
  readonly places: LeadPlaces;
  readonly output: unknown;
  /** Null: it is not known. */
  readonly holding: Holding | null;
  readonly onSelect: (nodeId: string) => void;
}): ReactNode {
  const { status, explanation, places, output, holding, onSelect } = props;
  const { lead, others, more, moreNoun } = places;
  const hasMany = explanation.places.length > 1 && lead !== null && explanation.status !== "parked";
  // a server of an earlier version has no marks
  const { sentence, marks = [], noWorker } = explanation;
  const told = hasMany ? addressedSentence(lead) : { sentence, marks };
  const isHeld = holding?.kind === "held";
  // what nobody can run waits for somebody, although the engine calls it active
  const isLeft = noWorker !== undefined;
  return (
    <div className={styles.banner} data-status={isLeft && status === "active" ? "paused" : status}>
      <StatusGlyph status={status} isMoving={!isLeft} />
      <p className={styles.sentence}>
        <Sentence text={isHeld ? runningSentence(told) : told} />
        {isLeft && (
          <>
            {" "}
            <Sentence text={noWorkerSentence(noWorker)} />
          </>
        )}
        {status === "completed" && <OutputLine output={output} />}
        {holding && !isLeft && lead && isDue(lead, explanation) && (
          <span className={layout.small} data-tip={holding.kind === "none" ? undefined : holding.owner}>
            {" "}
            <HoldingSentence holding={holding} />
          </span>
        )}
        {explanation.runs !== undefined && (
          <span className={layout.small}>
            {" "}
            <Sentence text={withTimes(explanation.runs)} />
          </span>
        )}
      </p>
      {hasMany && (
        <span className={styles.others}>
          {others.map((place) => (
            <OtherPlace key={place.pathId} place={place} isHeld={isHeld} onSelect={onSelect} />
          ))}
          {more > 0 && <span>and {nounText(more, `more ${moreNoun}`)}</span>}
        </span>
      )}
    </div>
  );
}

/** The beginning of the output of a completed execution. */
function OutputLine({ output }: { readonly output: unknown }): ReactNode {
  if (output === undefined || output === null || cutBytes(output) !== null) return null;
  const text = typeof output === "string" ? output : (JSON.stringify(output as Json) ?? "");
  const [line = ""] = text.split("\n", 1);
  return (
    <>
      {" "}
      <code>{line.length > 160 ? `${line.slice(0, 159)}…` : line}</code>
    </>
  );
}

function OtherPlace(props: {
  readonly place: PlaceInfo;
  /** A process holds the execution. */
  readonly isHeld: boolean;
  readonly onSelect: (nodeId: string) => void;
}): ReactNode {
  const { place, isHeld, onSelect } = props;
  const { address, items, until, status, sentence } = place;
  return (
    <button type="button" className={styles.other} data-tip={`${address} ${sentence}`} onClick={() => onSelect(rootNode(address))}>
      <StatusGlyph status={glyphOf(place)} />
      <span>{address}</span>
      {items ? (
        <span>
          <b>{countText(items.done + items.failed + items.cancelled)}</b> of {countText(items.total)}
        </span>
      ) : until !== null ? (
        <span>
          {status === "retrying" ? "again in " : "for "}
          <b>
            <Countdown until={until} />
          </b>
        </span>
      ) : (
        <span>{status !== "ready" ? "waits" : isHeld ? "runs" : "is due"}</span>
      )}
    </button>
  );
}

function glyphOf({ status, items }: PlaceInfo): ShownStatus {
  if (status === "retrying") return "retrying";
  if (status === "ready" || items) return "active";
  return status === "suspended" ? "paused" : "not-yet";
}
